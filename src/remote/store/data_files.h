// Files of data sets, on the local disk or at URLs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "recpack/base/file.h"

namespace recpack::remote {

// Returns the file system for data sets: PosixFiles() for local paths, and ranged reads of objects
// for URLs (s3://, gs://, http(s)://). Objects are written by Upload. Never destroyed. Thread-safe;
// usable in a forked child.
FileSystem& DataFiles();

// Returns the bytes that may be fetched ahead of their use now: what keeps the link busy. 64 MiB at
// least, 512 at most. Thread-safe.
uint64_t FetchAheadBytes() noexcept;

// Returns the version (ETag) of an object that DataFiles() opened; empty for files on a disk, and
// where the server tells none.
std::string ObjectVersion(const ReadableFile& file);

// Returns the size of a file or an object; nullopt if it does not exist or cannot be read.
std::optional<uint64_t> FileBytes(const std::string& path);

// Hints that DataFiles() will open this URL soon: what that begins with is requested now, so that
// opening many objects in turn takes no round trip for each. Thread-safe, reports no errors. Does
// not wait for the object, but may renew credentials.
void WillOpen(const std::string& url) noexcept;

// Announces that so many bytes of objects are announced at once, and read in an order of their own:
// memory for fetching ahead is as large, 512 MiB at most.
void WillReadTogether(uint64_t bytes) noexcept;

}  // namespace recpack::remote

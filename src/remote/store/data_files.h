// Files of data sets, on the local disk or at URLs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "recpack/base/file.h"

namespace recpack::remote {

// Returns the file system for data: of PosixFiles() for local paths; for URLs (s3://, gs://,
// http(s)://) of objects that are read by ranges. Objects cannot be written yet. Never destroyed.
// Thread-safe; usable in a forked child.
FileSystem& DataFiles();

// Returns the size of a file or an object; nullopt if it does not exist or cannot be read.
std::optional<uint64_t> FileBytes(const std::string& path);

}  // namespace recpack::remote

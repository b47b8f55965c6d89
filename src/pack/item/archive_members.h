// Reads the members of a small tar archive into memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"

namespace recpack::pack {

// A regular file of an archive.
struct ArchiveMember {
  std::string name;  // path as stored in the archive
  std::unique_ptr<uint8_t[]> content;
  uint64_t size = 0;

  ByteView bytes() const noexcept { return {content.get(), size}; }
};

// Returns all members for whose name `wanted` returns true, in archive order. Reads the whole
// archive and checks the CRC-32 and length at the end of a gzip stream, which libarchive does not;
// for that reason a gzip file of several streams is refused. Throws Error: kCorrupt if the archive
// is truncated or damaged, kInvalidArgument if the file is not a .tar or .tar.gz.
std::vector<ArchiveMember> ReadArchiveMembers(
    const ReadableFile& file, const std::function<bool(const std::string&)>& wanted);

// Returns the names of the first `count` entries of any type; reads no further. Throws as above.
std::vector<std::string> ListArchiveMembers(const ReadableFile& file, size_t count);

}  // namespace recpack::pack

// Small archives, unpacked into memory.
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
  std::string name;  // with its folders, as the archive has it
  std::unique_ptr<uint8_t[]> content;
  uint64_t size = 0;

  ByteView bytes() const noexcept { return {content.get(), size}; }
};

// All members of a .tar or .tar.gz that `wanted` says yes to (it is given the name), in their
// order. The whole archive is read, the CRC-32 and length at the end of a gzip stream are checked
// (libarchive does not; a gzip file of several streams is refused for that). Throws Error: kCorrupt
// for a truncated or damaged archive, kInvalidArgument for a file that is no such archive.
std::vector<ArchiveMember> ReadArchiveMembers(
    const ReadableFile& file, const std::function<bool(const std::string&)>& wanted);

// The names of its first `count` members of any kind; reads no further. Throws the same.
std::vector<std::string> ListArchiveMembers(const ReadableFile& file, size_t count);

}  // namespace recpack::pack

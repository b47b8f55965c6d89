// Indexes the members of a tar archive.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "recpack/base/file.h"

namespace recpack::pack {

struct TarMember {
  std::string name;     // path without a leading "./"
  uint64_t offset = 0;  // of its content, in the file
  uint64_t size = 0;    // bytes
};

// The part of a file that holds an archive.
struct TarRange {
  uint64_t begin = 0;
  uint64_t bytes = 0;
};

struct TarSummary {
  uint64_t links = 0;  // symbolic and hard links, which are not members
};

// Calls `add` for each regular file of the archive in order; reads headers and skips contents.
// Supports ustar, pax and GNU names. Errors carry `name` as their path. Throws Error: kCorrupt for
// an archive that is damaged, ends before its end mark, or has data after it, and for a member
// whose name is absolute or contains ".."; kUnsupported for sparse members; kInvalidArgument if the
// file is not a tar archive.
TarSummary IndexTar(const ReadableFile& file, TarRange range, const std::string& name,
                    const std::function<void(const TarMember&)>& add);

}  // namespace recpack::pack

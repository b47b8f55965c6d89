// The lengths of a shard's records, as an index has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/record/stream/window.h"

namespace recpack {

// `length`, of the record at this place. Throws Error (kUnsupported) where an index cannot hold it.
uint32_t CheckedLength(uint64_t length, const std::string& path, uint64_t offset, size_t ordinal);

// Payload bytes of all frames from the window's beginning to its end. The CRCs of lengths are
// checked, those of payloads where `verify` says so. `most_bytes`: that the stream can have. Throws
// Error with its place in the file, whose path is given: kCorrupt at the first damage, and as
// CheckedLength().
std::vector<uint32_t> ReadLengths(Window& window, bool verify, uint64_t most_bytes,
                                  const std::string& path);

}  // namespace recpack

// What a plan takes an item for.
#pragma once

#include <cstdint>

#include "src/pack/item/source.h"

namespace recpack::pack {

// Bytes of the item's record in a shard without compression, its frame included.
inline uint64_t PlannedBytes(const Source& source, size_t split, uint64_t item) {
  constexpr uint64_t kFrameBytes = 16;  // docs/format/tfrecord.md
  return source.ItemBytes(split, item) + kFrameBytes;
}

}  // namespace recpack::pack

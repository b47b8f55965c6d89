// Access to a few records of a split by ordinal.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "recpack/base/bytes.h"
#include "recpack/record/index.h"
#include "src/shards/layout/layout.h"

namespace recpack {

// Returns the split's index: the one beside its shards if it matches their names and sizes,
// otherwise one built by scanning the shards that no index has: in a deleted temporary file, and
// for objects of a store kept in the cache folder, by their versions. Shards may lie in several
// folders. Throws Error.
Index OpenSplitIndex(const LayoutSplit& split);

// Calls visit(ordinal, payload) for each of the ordinals (in the split, ascending). Compressed
// shards without flush points are read sequentially. Throws Error: kInvalidArgument beyond the end,
// kCorrupt.
void VisitRecords(const LayoutSplit& split, const Index& index, std::span<const uint64_t> ordinals,
                  const std::function<void(uint64_t ordinal, ByteView payload)>& visit);

}  // namespace recpack

// A few records of a split, wherever they lie.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "recpack/base/bytes.h"
#include "recpack/record/index.h"
#include "src/shards/layout/layout.h"

namespace recpack {

// The split's index: the one beside its shards where that names them and their sizes, else one made
// in a temporary file that is gone with it, by scanning the shards that no index beside them knows.
// Shards may lie in several folders. Throws Error.
Index IndexOfSplit(const LayoutSplit& split);

// Calls visit(ordinal, payload) for each of the ordinals (ascending, in the split). Shards of
// others that are compressed as one stream are read through. Throws Error: kInvalidArgument beyond
// the end, kCorrupt.
void VisitRecords(const LayoutSplit& split, const Index& index, std::span<const uint64_t> ordinals,
                  const std::function<void(uint64_t ordinal, ByteView payload)>& visit);

}  // namespace recpack

// The index beside the shards, if it is theirs.
#pragma once

#include <optional>

#include "recpack/record/index.h"
#include "src/shards/layout/layout.h"

namespace recpack {

// Nothing where there is no index, where it is damaged, or where it names other shards, or other
// sizes and counts of records than the manifest. The files are not looked at: who opens one holds
// its size to the index's.
std::optional<Index> FittingIndex(const LayoutSplit& split);

}  // namespace recpack

// Lookup of the index beside the shards, if it matches them.
#pragma once

#include <optional>

#include "recpack/record/index.h"
#include "src/shards/layout/layout.h"

namespace recpack {

// Returns nullopt if there is no index, if it is damaged, or if its shards, sizes or record counts
// differ from the manifest. Does not check the files: their sizes are compared with the index when
// they are opened.
std::optional<Index> FittingIndex(const LayoutSplit& split);

}  // namespace recpack

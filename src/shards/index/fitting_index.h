// Lookup of the index beside the shards, if it matches them.
#pragma once

#include <optional>
#include <string>

#include "recpack/record/index.h"
#include "src/shards/layout/layout.h"

namespace recpack {

// Opens the index at a path or URL. Returns nullopt if there is none that may be read, or if it is
// damaged. Throws Error (kIo) if a store cannot be asked.
std::optional<Index> FindIndexAt(const std::string& path);

// Returns nullopt if there is no index, if it is damaged, or if its shards, sizes or record counts
// differ from the manifest. Does not check the files: their sizes are compared with the index when
// they are opened.
std::optional<Index> FittingIndex(const LayoutSplit& split);

// The same for an index at another path than the split's.
std::optional<Index> FittingIndex(const LayoutSplit& split, const std::string& path);

}  // namespace recpack

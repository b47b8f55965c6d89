// One index file over the shards of a split.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "src/shards/index/build_index.h"
#include "src/shards/index/known_shards.h"
#include "src/shards/layout/layout.h"

namespace recpack {

// Writes it to `path`; the shards may lie in any folders. `done` is called with the bytes of each
// shard, by any thread. Shards that are `known`, if that is given, are not read. As BuildIndexes()
// for all else.
BuiltIndex IndexSplit(const LayoutSplit& split, const std::string& path,
                      const BuildIndexOptions& options,
                      const std::function<void(uint64_t bytes)>& done,
                      KnownShards* known = nullptr);

}  // namespace recpack

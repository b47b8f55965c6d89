// Builder of the index file of one split.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "src/shards/index/build_index.h"
#include "src/shards/index/indexed_shards.h"
#include "src/shards/layout/layout.h"

namespace recpack {

// Writes the index to `path`; the shards may lie in any folders. Calls `done` with the bytes of
// each shard, from any thread. Shards that `known` has, if given, are not read. Otherwise as
// BuildIndexes().
BuiltIndex IndexSplit(const LayoutSplit& split, const std::string& path,
                      const BuildIndexOptions& options,
                      const std::function<void(uint64_t bytes)>& done,
                      KnownShards* known = nullptr);

}  // namespace recpack

// Shards held to what the manifest or the index says of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/shards/layout/layout.h"

namespace recpack {

// Throws Error (kCorrupt) where the shard is another one than the manifest lists.
void RefuseUnlisted(const std::string& path, const ListedShard& found, const ListedShard& listed);

}  // namespace recpack

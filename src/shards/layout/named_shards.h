// Recovery of shard files whose names are wrong in a damaged manifest.
#pragma once

#include <string>
#include <vector>

#include "src/shards/layout/layout.h"

namespace recpack {

struct Misnamed {
  std::string listed;  // path in the manifest
  std::string found;   // path of the actual file
};

// Corrects shards in the layout whose file does not exist or is listed twice: uses the file that
// the index has at this position, otherwise the only file of the folder that the manifest does not
// list and that has the listed size. Shards without such a file are not changed.
std::vector<Misnamed> FindMisnamedShards(Layout& layout);

}  // namespace recpack

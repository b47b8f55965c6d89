// The folders that a split's shards lie in.
#pragma once

#include <string>
#include <vector>

#include "src/shards/layout/layout.h"

namespace recpack {

// Empty for a file in the working folder.
std::string FolderOf(const std::string& path);

// Whether all lie in one folder. An index knows names only, and so the shards of one folder.
bool LieTogether(const NameList& shards);

// Where the index of the split is by its name: beside its first shard.
std::string IndexBeside(const std::string& split, const std::string& shard);

// The split in parts, one for each folder in the order of their first shards, each with the path of
// an index of its own.
std::vector<LayoutSplit> ByFolder(const LayoutSplit& split);

}  // namespace recpack

// Folders of a split's shards.
#pragma once

#include <string>
#include <vector>

#include "src/shards/layout/layout.h"

namespace recpack {

// Returns the folder of a path or URL; empty for a file in the working directory. A presigned URL's
// query is left out.
std::string FolderPath(const std::string& path);

// Returns the file name of a path or URL, without a presigned URL's query.
std::string ShardName(const std::string& path);

// Tells whether all shards are in one folder. An index stores file names only, and so covers the
// shards of one folder.
bool LieTogether(const NameList& shards);

// Returns the path of the split's index in the folder of its first shard.
std::string IndexBeside(const std::string& split, const std::string& shard);

// Divides the split by folder, in the order of the folders' first shards. Each part has its own
// index path.
std::vector<LayoutSplit> ByFolder(const LayoutSplit& split);

}  // namespace recpack

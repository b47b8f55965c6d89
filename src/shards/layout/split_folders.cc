#include "src/shards/layout/split_folders.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "src/remote/url/url.h"

namespace recpack {

std::string FolderPath(const std::string& path) {
  return std::filesystem::path(remote::WithoutQuery(path)).parent_path();
}

std::string ShardName(const std::string& path) {
  return std::filesystem::path(remote::WithoutQuery(path)).filename();
}

bool LieTogether(const NameList& shards) {
  const std::string folder = FolderPath(shards.front());
  return std::ranges::all_of(shards, [&](const auto& path) { return FolderPath(path) == folder; });
}

std::string IndexBeside(const std::string& split, const std::string& shard) {
  return std::filesystem::path(FolderPath(shard)) / (split + ".recindex");
}

std::vector<LayoutSplit> ByFolder(const LayoutSplit& split) {
  std::vector<LayoutSplit> parts;
  std::map<std::string, size_t> part_of;  // index of the part, by folder
  for (size_t i = 0; i < split.shards.size(); ++i) {
    const std::string shard = split.shards[i];
    const auto [part, is_new] = part_of.try_emplace(FolderPath(shard), parts.size());
    if (is_new) {
      parts.push_back({.name = split.name, .shards = {}, .index = IndexBeside(split.name, shard)});
    }
    parts[part->second].shards.push_back(shard);
    if (!split.listed.empty()) parts[part->second].listed.push_back(split.listed[i]);
  }
  return parts;
}

}  // namespace recpack

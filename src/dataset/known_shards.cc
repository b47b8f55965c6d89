#include "src/dataset/known_shards.h"

#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/dataset/split_folders.h"

namespace recpack {

namespace fs = std::filesystem;

const IndexedShards* KnownShards::Of(const std::string& shard) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = folders_.try_emplace(FolderOf(shard));
  const std::string path = IndexBeside(split_, shard);
  if (!is_new || !PosixFiles().Exists(path)) return at->second.get();
  try {
    at->second = std::make_unique<IndexedShards>(Index::Open(path));
  } catch (const Error&) {  // a damaged index is as good as none
  }
  return at->second.get();
}

std::optional<ShardEntries> KnownShards::Find(const std::string& path) {
  const IndexedShards* known = Of(path);
  if (known == nullptr) return {};
  const auto found = known->Find(fs::path(path).filename().string());
  std::error_code missing;
  if (!found || fs::file_size(path, missing) != known->index().shard_bytes(*found)) return {};
  return known->index().Entries(*found);
}

}  // namespace recpack

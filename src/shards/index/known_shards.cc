#include "src/shards/index/known_shards.h"

#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/shards/layout/split_folders.h"

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

std::optional<ShardEntries> KnownShards::Find(const std::string& path, bool is_listed) {
  const IndexedShards* known = Of(path);
  if (known == nullptr) return {};
  const auto found = known->Find(fs::path(path).filename().string());
  if (!found) return {};
  const uint64_t bytes = PosixFiles().OpenForReading(path)->Size();
  if (bytes == known->index().shard_bytes(*found)) return known->index().Entries(*found);
  if (is_listed) return {};
  RefuseOtherSize(path, bytes, known->index().shard_bytes(*found));
  return {};
}

}  // namespace recpack

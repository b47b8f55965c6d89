#include "src/shards/index/indexed_shards.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/remote/store/data_files.h"
#include "src/shards/index/fitting_index.h"
#include "src/shards/layout/split_folders.h"

namespace recpack {

IndexedShards::IndexedShards(Index index)
    : index_(std::move(index)), by_name_(index_.shard_count()) {
  std::iota(by_name_.begin(), by_name_.end(), 0u);
  std::ranges::sort(by_name_, {}, [&](uint32_t i) { return index_.shard_name(i); });
}

std::optional<size_t> IndexedShards::Find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(by_name_, name, {},
                                              [&](uint32_t i) { return index_.shard_name(i); });
  if (found == by_name_.end() || index_.shard_name(*found) != name) return {};
  return *found;
}

const IndexedShards* KnownShards::FindIndex(const std::string& shard) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = folders_.try_emplace(FolderPath(shard));
  if (!is_new) return at->second.get();
  if (auto index = FindIndexAt(IndexBeside(split_, shard))) {
    at->second = std::make_unique<IndexedShards>(std::move(*index));
  }
  return at->second.get();
}

std::optional<ShardEntries> KnownShards::Find(const std::string& path, bool is_listed) {
  const IndexedShards* known = FindIndex(path);
  if (known == nullptr) return {};
  const auto found = known->Find(ShardName(path));
  if (!found) return {};
  found_any_ = true;
  const uint64_t bytes = remote::DataFiles().OpenForReading(path)->Size();
  if (bytes == known->index().shard_bytes(*found)) return known->index().Entries(*found);
  if (is_listed) return {};
  RefuseOtherSize(path, bytes, known->index().shard_bytes(*found));
  return {};
}

std::optional<ShardSummary> KnownShards::FindSummary(const std::string& path) {
  const IndexedShards* known = FindIndex(path);
  if (known == nullptr) return {};
  const auto found = known->Find(ShardName(path));
  if (!found) return {};
  return known->index().shard(*found);
}

}  // namespace recpack

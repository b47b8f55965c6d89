#include "src/shards/index/indexed_shards.h"

#include <algorithm>
#include <numeric>
#include <utility>

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

}  // namespace recpack

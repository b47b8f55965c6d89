#include "src/shards/manifest/shard_list.h"

namespace recpack {

ShardList::ShardList(std::initializer_list<ManifestShard> shards) {
  for (const auto& shard : shards) push_back(shard);
}

void ShardList::push_back(const ManifestShard& shard) {
  files_.push_back(shard.file);
  rows_.push_back({.records = shard.records,
                   .bytes = shard.bytes,
                   .sha256 = shard.sha256.value_or(Sha256Digest{}),
                   .has_sha256 = shard.sha256.has_value(),
                   .compression = shard.compression});
}

ManifestShard ShardList::operator[](size_t i) const {
  const Row& row = rows_[i];
  return {.file = files_[i],
          .records = row.records,
          .bytes = row.bytes,
          .compression = row.compression,
          .sha256 = row.has_sha256 ? std::optional(row.sha256) : std::nullopt};
}

uint64_t ShardList::records() const {
  uint64_t sum = 0;
  for (const Row& row : rows_) sum += row.records;
  return sum;
}

uint64_t ShardList::bytes() const {
  uint64_t sum = 0;
  for (const Row& row : rows_) sum += row.bytes;
  return sum;
}

}  // namespace recpack

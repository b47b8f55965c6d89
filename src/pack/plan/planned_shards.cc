#include <algorithm>
#include <iterator>

#include "src/pack/plan/plan.h"

namespace recpack::pack {

void PlannedShards::push_back(const PlannedShard& shard) {
  if (runs_.empty() || runs_.back().split != shard.split || rows_.back().end != shard.begin) {
    runs_.push_back({.first_shard = rows_.size(), .split = shard.split, .begin = shard.begin});
  }
  files_.push_back(shard.file);
  rows_.push_back({.end = shard.end, .bytes = shard.bytes});
}

PlannedShard PlannedShards::operator[](size_t i) const {
  const Run& run = *std::prev(std::ranges::upper_bound(runs_, i, {}, &Run::first_shard));
  return {.file = files_[i],
          .split = run.split,
          .begin = i == run.first_shard ? run.begin : rows_[i - 1].end,
          .end = rows_[i].end,
          .bytes = rows_[i].bytes};
}

uint64_t PlannedShards::bytes() const {
  uint64_t sum = 0;
  for (const Row& row : rows_) sum += row.bytes;
  return sum;
}

}  // namespace recpack::pack

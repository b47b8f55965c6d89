#include "src/pack/plan/plan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/shards/manifest/shard_name.h"

namespace recpack::pack {
namespace {

// Stream of the keyed permutation, so that splits are shuffled independently.
constexpr uint32_t kShuffleStream = 0x7061636b;  // "pack"

// Plans the shards of one split: cuts where the running size passes the next equal share.
void PlanSplit(const Source& source, const PlanOptions& options, size_t split, Plan& plan) {
  const uint64_t items = plan.splits[split].items;
  const PackingOrder order(plan, split);
  uint64_t total = 0;
  for (uint64_t i = 0; i < items; ++i) total += PlannedBytes(source, split, order(i));
  uint64_t shards = options.shards;
  if (shards == 0) shards = (total + options.shard_bytes - 1) / options.shard_bytes;
  shards = std::clamp<uint64_t>(shards, 1, std::max<uint64_t>(1, items));

  uint64_t position = 0, before = 0;
  for (uint64_t shard = 0; shard < shards; ++shard) {
    PlannedShard planned{.file = ShardName(plan.splits[split].name, options.append, shard, shards),
                         .split = split,
                         .begin = position};
    const uint64_t share = static_cast<uint64_t>(
        static_cast<double>(total) * static_cast<double>(shard + 1) / static_cast<double>(shards));
    const uint64_t leave = shards - shard - 1;  // every later shard gets at least one item
    const bool last = leave == 0;
    while (position + leave < items) {
      const uint64_t bytes = PlannedBytes(source, split, order(position));
      if (!last && planned.end > planned.begin && before + planned.bytes + bytes / 2 > share) break;
      planned.bytes += bytes;
      planned.end = ++position;
    }
    planned.end = position;
    before += planned.bytes;
    plan.shards.push_back(planned);
  }
}

template <typename T>
void Compare(const std::string& what, const T& there, const T& wanted, std::string& text) {
  if (there != wanted) {
    text += format("{}{} was '{}' and is now '{}'", text.empty() ? "" : ", ", what, there, wanted);
  }
}

// Compares plans without settings and fingerprint.
bool SamePlan(const Plan& a, const Plan& b) {
  const auto same_split = [](const SourceSplit& x, const SourceSplit& y) {
    return x.name == y.name && x.items == y.items;
  };
  return a.shuffle_seed == b.shuffle_seed && a.source_items == b.source_items &&
         std::ranges::equal(a.splits, b.splits, same_split) && a.shards == b.shards;
}

}  // namespace

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

uint64_t Plan::items() const {
  uint64_t sum = 0;
  for (const auto& split : splits) sum += split.items;
  return sum;
}

PackingOrder::PackingOrder(const Plan& plan, size_t split) {
  if (!plan.shuffle_seed) return;
  permutation_.emplace(*plan.shuffle_seed, kShuffleStream + static_cast<uint32_t>(split),
                       plan.source_items[split]);
}

void CheckPlannable(const Source& source, const PlanOptions& options) {
  if (options.shard_bytes == 0) {
    throw Error(ErrorKind::kInvalidArgument, "invalid shard size: 0 bytes");
  }
  const auto has_items = [](const SourceSplit& split) { return split.items > 0; };
  if (!std::ranges::any_of(source.splits(), has_items)) {
    throw Error(ErrorKind::kInvalidArgument, "the source has no items");
  }
  if (source.splits().size() > kMostSplits) {
    throw Error(ErrorKind::kInvalidArgument,
                format("the source has {} splits, such as {} and {}; at most {} are packed",
                       source.splits().size(), source.splits()[0].name, source.splits()[1].name,
                       kMostSplits),
                {}, "check which column or folders name the splits");
  }
  for (const SourceSplit& split : source.splits()) {
    if (IsUtf8(split.name)) continue;
    throw Error(
        ErrorKind::kInvalidArgument,
        format("the name of the split {} is not UTF-8, so a manifest could not list its shards",
               split.name),
        {}, "rename it");
  }
}

Plan MakePlan(const Source& source, const PlanOptions& options,
              std::map<std::string, std::string> settings) {
  CheckPlannable(source, options);
  Plan plan{.settings = std::move(settings),
            .fingerprint = source.Fingerprint(),
            .shuffle_seed = options.shuffle_seed,
            .splits = source.splits(),
            .source_items = {},
            .shards = {}};
  for (auto& split : plan.splits) {
    plan.source_items.push_back(split.items);
    if (options.limit > 0) split.items = std::min(split.items, options.limit);
  }
  for (size_t split = 0; split < plan.splits.size(); ++split) {
    if (plan.splits[split].items > 0) PlanSplit(source, options, split, plan);
  }
  return plan;
}

std::string DescribeDifference(const Plan& there, const Plan& wanted) {
  std::string text;
  for (const auto& [name, value] : wanted.settings) {
    const auto old = there.settings.find(name);
    Compare(name, old == there.settings.end() ? "" : old->second, value, text);
  }
  for (const auto& [name, value] : there.settings) {
    if (!wanted.settings.contains(name)) Compare(name, value, std::string(), text);
  }
  if (!text.empty()) return text;
  if (there.fingerprint != wanted.fingerprint) {
    text = "the names or sizes of the source's items changed";
    if (there.items() != wanted.items()) {
      text += format(" ({} items then, {} now)", there.items(), wanted.items());
    }
  } else if (!SamePlan(there, wanted)) {
    text = "the plan was made by another version of recpack";
  }
  return text;
}

}  // namespace recpack::pack

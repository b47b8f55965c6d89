// Assigns items to shards before anything is packed (docs/format/plan.md).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "recpack/base/permutation.h"
#include "src/pack/item/source.h"
#include "src/shards/manifest/manifest.h"
#include "src/shards/manifest/name_list.h"

namespace recpack::pack {

// Maximum number of splits of a source; each gets its own shards and index.
inline constexpr size_t kMostSplits = 1000;

struct PlanOptions {
  // Target size of a shard [bytes]. The shards of a split get about equal sizes, and none is
  // planned above this size unless a single item is larger.
  uint64_t shard_bytes = 100'000'000;
  // Number of shards per split; 0: from shard_bytes. Never more than the split has items.
  uint64_t shards = 0;
  // Seed for shuffling each split; nullopt: source order.
  std::optional<uint64_t> shuffle_seed = {};
  // Maximum number of items per split, taken in packing order; 0: all.
  uint64_t limit = 0;
  // Number of the append, part of the shard names: SPLIT-append1-00000-of-00012.tfrecord; 0: none.
  uint32_t append = 0;
};

// A range of positions in the packing order of a split.
struct PlannedShard {
  std::string file;    // name within the output folder
  size_t split = 0;    // into Plan::splits
  uint64_t begin = 0;  // first position
  uint64_t end = 0;    // one past the last
  uint64_t bytes = 0;  // planned file size, from source sizes
};

// Compact list of planned shards, 16 bytes each. Elements are returned by value: a reference to one
// would dangle.
class PlannedShards {
 public:
  void push_back(const PlannedShard& shard);

  PlannedShard operator[](size_t i) const;
  size_t size() const noexcept { return rows_.size(); }
  bool empty() const noexcept { return rows_.empty(); }
  ValueIterator<PlannedShards> begin() const { return {*this, 0}; }
  ValueIterator<PlannedShards> end() const { return {*this, size()}; }
  const NameList& files() const noexcept { return files_; }
  uint64_t bytes() const;
  bool operator==(const PlannedShards&) const = default;

 private:
  struct Row {
    uint64_t end = 0;
    uint64_t bytes = 0;
    bool operator==(const Row&) const = default;
  };
  // Consecutive shards of one split; each begins where the one before it ends.
  struct Run {
    size_t first_shard = 0;
    size_t split = 0;
    uint64_t begin = 0;
    bool operator==(const Run&) const = default;
  };

  NameList files_;
  std::deque<Row> rows_;
  std::vector<Run> runs_;
};

struct Plan {
  // Options that the plan depends on, by name, to tell which of them changed.
  std::map<std::string, std::string> settings;
  std::string fingerprint;  // of the source
  std::optional<uint64_t> shuffle_seed;
  std::vector<SourceSplit> splits;     // with the number of packed items
  std::vector<uint64_t> source_items;  // per split, before the limit
  PlannedShards shards;

  uint64_t items() const;
  uint64_t bytes() const { return shards.bytes(); }
};

// Packing order of one split: maps a position to an item of the source. Stores no table.
class PackingOrder {
 public:
  PackingOrder(const Plan& plan, size_t split);
  uint64_t operator()(uint64_t position) const {
    return permutation_ ? (*permutation_)(position) : position;
  }

 private:
  std::optional<KeyedPermutation> permutation_;
};

// Size of the item's record in an uncompressed shard, including its frame [bytes].
inline uint64_t PlannedBytes(const Source& source, size_t split, uint64_t item) {
  constexpr uint64_t kFrameBytes = 16;  // docs/format/tfrecord.md
  return source.ItemBytes(split, item) + kFrameBytes;
}

// Throws Error (kInvalidArgument) if no plan can be made: the source has no items, the shard size
// is 0 bytes, or the name of a split is not UTF-8.
void CheckPlannable(const Source& source, const PlanOptions& options);

// `settings` holds the other options that the output depends on. Throws as CheckPlannable().
Plan MakePlan(const Source& source, const PlanOptions& options,
              std::map<std::string, std::string> settings);

std::string PlanToJson(const Plan& plan);

// Throws Error (kCorrupt) with `path`.
Plan PlanFromJson(const std::string& text, const std::string& path);

// Same to and from a file, without holding its text in memory.
void WritePlan(FileSystem& files, const std::string& path, const Plan& plan, bool durable);
Plan ReadPlan(FileSystem& files, const std::string& path);

// Tells whether the manifest lists the shards of the plan. It lists all of them or none.
inline bool Lists(const Manifest& manifest, const Plan& plan) {
  return manifest.Lists(plan.shards.files().front());
}

// Describes in a sentence how plan `there` differs from `wanted`; empty if they are equal.
std::string DescribeDifference(const Plan& there, const Plan& wanted);

}  // namespace recpack::pack

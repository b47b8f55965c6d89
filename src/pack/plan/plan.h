// Which item goes into which shard, decided before a byte is packed (docs/format/plan.md).
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
#include "src/shards/manifest/name_list.h"

namespace recpack::pack {

// Splits that a source may have: each gets a shard and an index of its own.
inline constexpr size_t kMostSplits = 1000;

struct PlanOptions {
  // Target bytes of a shard. Shards of a split are made about equal, none planned above it unless a
  // single item is larger.
  uint64_t shard_bytes = 100'000'000;
  // Exact number of shards of each split; 0: by shard_bytes. Never more than the split has items.
  uint64_t shards = 0;
  // Seed of the shuffle within each split; empty: the source's order.
  std::optional<uint64_t> shuffle_seed = {};
  // Items of each split at most, 0: all. They are the first ones in packing order.
  uint64_t limit = 0;
  // Put into the shard names of appended parts: SPLIT-append1-00000-of-00012.tfrecord; 0: none.
  uint32_t append = 0;
};

// A shard is a range of positions in its split's packing order.
struct PlannedShard {
  std::string file;    // name within the output folder
  size_t split = 0;    // into Plan::splits
  uint64_t begin = 0;  // first position
  uint64_t end = 0;    // one past the last
  uint64_t bytes = 0;  // planned file size, from the sizes of the sources
};

// The shards of a plan in 16 bytes each. Elements are values: a reference to one would dangle.
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
  // Shards of one split, each of which begins where the one before it ends.
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
  // What the plan depends on, by option name, for telling which of them changed.
  std::map<std::string, std::string> settings;
  std::string fingerprint;  // of the source
  std::optional<uint64_t> shuffle_seed;
  std::vector<SourceSplit> splits;     // items: those that are packed
  std::vector<uint64_t> source_items;  // of each split, before the limit
  PlannedShards shards;

  uint64_t items() const;
  uint64_t bytes() const { return shards.bytes(); }
};

// The packing order of one split: position -> item of the source. No memory.
class PackingOrder {
 public:
  PackingOrder(const Plan& plan, size_t split);
  uint64_t operator()(uint64_t position) const {
    return permutation_ ? (*permutation_)(position) : position;
  }

 private:
  std::optional<KeyedPermutation> permutation_;
};

// Throws Error (kInvalidArgument) where no plan can be made: the source has no items at all, shards
// would be of 0 bytes, the name of a split is not UTF-8.
void CheckPlannable(const Source& source, const PlanOptions& options);

// `settings` says what else the output's bytes depend on. Throws as CheckPlannable() does.
Plan MakePlan(const Source& source, const PlanOptions& options,
              std::map<std::string, std::string> settings);

std::string PlanToJson(const Plan& plan);

// Throws Error (kCorrupt) naming `path`.
Plan PlanFromJson(const std::string& text, const std::string& path);

// The same to and from a file, without holding its text.
void WritePlan(FileSystem& files, const std::string& path, const Plan& plan, bool durable);
Plan ReadPlan(FileSystem& files, const std::string& path);

// What differs between the plan that is there and the one that is wanted, as a sentence for the
// user; empty: nothing.
std::string DescribeDifference(const Plan& there, const Plan& wanted);

}  // namespace recpack::pack

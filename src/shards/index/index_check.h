// Comparison of a shard with its index, whose lengths and flush points have no CRC
// (docs/format/index.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "recpack/record/index.h"
#include "recpack/record/random_access_reader.h"
#include "recpack/record/reader.h"
#include "src/shards/index/indexed_shards.h"

namespace recpack {

// Takes the records of one shard in order and finds the first one whose location differs from the
// index, or that, if the index has flush points, cannot be read through them (each segment is
// inflated once more). Not thread-safe.
class IndexCheck {
 public:
  struct Difference {
    uint64_t ordinal = 0;  // in the shard
    std::string reason;
  };

  // `indexed`: null if there is no index. An index that does not list the file with this size is
  // ignored.
  IndexCheck(const IndexedShards* indexed, const std::string& path, uint64_t file_bytes);

  // Checks the next record. Throws Error (kNotFound, kIo) if the shard cannot be opened or read
  // again.
  void See(const Record& record);

  // Stops checking, after damage: ordinals are then estimates.
  void Stop() { indexed_ = nullptr; }

  // Checks the number of records. Call it after the last record.
  void Finish(uint64_t records);

  const std::optional<Difference>& difference() const { return difference_; }

 private:
  // Tells whether reading through the flush points gives the same record.
  bool IsSameAtRandom(const Record& record);
  void Note(uint64_t ordinal, std::string reason);

  const IndexedShards* indexed_;  // null: no index, or stopped
  ShardSummary summary_;
  std::optional<RandomAccessReader> at_random_;  // set if there are flush points
  std::optional<Difference> difference_;
};

}  // namespace recpack

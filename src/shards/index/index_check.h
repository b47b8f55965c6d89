// Whether an index says of a shard what is so: lengths and flush points have no CRC of their own
// there (docs/format/index.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "recpack/record/index.h"
#include "recpack/record/random_access_reader.h"
#include "recpack/record/reader.h"
#include "src/shards/index/indexed_shards.h"

namespace recpack {

// Looks at the records of one shard in their order, for the first one that lies elsewhere; or,
// where the index has flush points, that cannot be had by them: each stretch is inflated once more.
// One thread at a time.
class IndexCheck {
 public:
  struct Difference {
    uint64_t ordinal = 0;  // in the shard
    std::string reason;
  };

  // `indexed`: null where there is no index. One that does not list the file with this size says
  // nothing of it, and is not held to it.
  IndexCheck(const IndexedShards* indexed, const std::string& path, uint64_t file_bytes);

  // Throws Error (kNotFound, kIo) where the shard cannot be opened or read again.
  void See(const Record& record);

  // Behind damage ordinals are provisional, and no record is missing.
  void Stop() { indexed_ = nullptr; }

  // After the last record of `records`.
  void Finish(uint64_t records);

  const std::optional<Difference>& difference() const { return difference_; }

 private:
  // Whether reading by the flush points gives the same.
  bool IsSameAtRandom(const Record& record);
  void Note(uint64_t ordinal, std::string reason);

  const IndexedShards* indexed_;  // null: there is nothing to compare with, or any more
  ShardSummary summary_;
  std::optional<RecordSource> at_random_;  // where there are flush points
  std::optional<Difference> difference_;
};

}  // namespace recpack

// Bookkeeping of prefetched records: which reads hold them, and which were given up.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "recpack/record/framing.h"
#include "recpack/record/index.h"
#include "src/record/random/fetcher.h"

namespace recpack {

struct WantedRecord {
  uint64_t id = 0;
  RecordLocation location = {};
};

inline uint64_t FrameEnd(const RecordLocation& location) {
  return location.offset + location.length + kFrameBytes;
}

// Returns the leading records that are adjacent in one shard: the first, and as many as fit into
// `max_bytes`. `wanted` is in file order and not empty.
std::span<const WantedRecord> FirstRun(std::span<const WantedRecord> wanted, uint64_t max_bytes);

// Not thread-safe.
class PrefetchedRuns {
 public:
  // `max_bytes`: of runs with records not taken.
  explicit PrefetchedRuns(size_t max_bytes) : max_bytes_(max_bytes) {}

  bool Has(uint64_t id) const { return begun_.contains(id); }
  bool HasRoomFor(size_t bytes) const { return bytes <= max_bytes_ - run_bytes_; }

  // Returns the locations of those records that are in the index and were not prefetched, in file
  // order.
  std::vector<WantedRecord> Missing(std::span<const uint64_t> ids, const Index& index) const;

  // Adds a run of records that `fetch` reads.
  void Add(std::span<const WantedRecord> run, std::shared_ptr<Fetch> fetch);

  // Takes a record out; null if it was not prefetched. Call it for every record that is read.
  std::shared_ptr<Fetch> Take(uint64_t id);

  // Drops the oldest runs that were taken or abandoned: a run is abandoned if far more records than
  // are waiting have been read since it was started.
  void Settle();

 private:
  // Prefetched range whose records have not all been taken.
  struct Run {
    std::shared_ptr<Fetch> fetch;
    std::vector<uint64_t> ids;
    size_t untaken;
    uint64_t begun_at;  // number of Take() calls at that time
  };

  size_t max_bytes_;
  std::unordered_map<uint64_t, std::shared_ptr<Run>> begun_;
  std::deque<std::shared_ptr<Run>> runs_;  // oldest first
  size_t run_bytes_ = 0;                   // bytes of runs with records not taken
  uint64_t takes_ = 0;
};

}  // namespace recpack

// Shares the items of one shard among several threads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "src/pack/item/source.h"
#include "src/pack/job/prepared_items.h"
#include "src/pack/plan/plan.h"

namespace recpack::pack {

// Each thread claims the next batch of items, about 256 KB (16 MB from a store), and prepares their
// records. The thread that holds the batch to be written next writes it, and then the finished
// batches that follow it. Prepared but unwritten data is limited to 1 MB per thread, or to one
// batch per thread if records are larger.
class ItemTeam {
 public:
  // Called with batches in plan order, by one thread at a time. Returns false to stop the job.
  using Write = std::function<bool(const PreparedItems& batch)>;

  // `threads` threads will call Work(). The arguments must outlive the team.
  ItemTeam(const Source& source, const Plan& plan, const PlannedShard& shard, size_t threads,
           Write write);

  // Each thread calls this once, with its own reader. Returns when no items are left to claim or
  // the team was stopped. Throws what `write` throws; the other threads then return.
  void Work(ItemReader& reader);

  // Tells whether everything was written. Call after all threads have returned from Work().
  bool done() const { return !stopped_ && taken_ == shard_.end; }

 private:
  struct Batch {
    uint64_t begin = 0;          // position
    uint64_t planned_bytes = 0;  // until it is prepared
    PreparedItems records;
  };

  bool Claim(Batch& batch);
  void Deliver(Batch&& batch);
  void Stop();
  bool HasRoom() const;
  Batch SpareBatch();

  const Source& source_;
  const PlannedShard& shard_;
  const PackingOrder order_;
  const size_t threads_;
  const uint64_t batch_bytes_;  // a batch ends when it has as many, by the plan
  const Write write_;

  std::mutex mutex_;
  std::condition_variable room_;
  bool stopped_ = false;
  bool writing_ = false;             // a thread is in write_
  uint64_t claimed_;                 // positions before it are claimed
  uint64_t taken_;                   // positions before it are written
  size_t batches_ = 0;               // claimed but not written
  uint64_t bytes_ = 0;               // of these batches
  std::map<uint64_t, Batch> ready_;  // by their first position
  std::vector<Batch> spare_;
};

}  // namespace recpack::pack

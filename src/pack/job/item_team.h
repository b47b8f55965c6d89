// Several threads on the items of one shard.
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

// Threads claim the next items of the shard, a batch of about 256 KB at a time, and prepare their
// records; whoever has the batch that is next to be written writes it, and those after it that
// wait. What is prepared and not yet written stays below 1 MB a thread, or one batch a thread where
// records are larger than that.
class ItemTeam {
 public:
  // Called with one batch after the other in the order of the plan, by one thread at a time. False:
  // the job is to stop.
  using Write = std::function<bool(const PreparedItems& batch)>;

  // `threads` will call Work(). Views its arguments.
  ItemTeam(const Source& source, const Plan& plan, const PlannedShard& shard, size_t threads,
           Write write);

  // Each thread calls this once, with a reader of its own. Returns when nothing is left to be
  // claimed, or the team was stopped. Throws what `write` throws; the other threads then return.
  void Work(ItemReader& reader);

  // Whether all was written. To be asked when every thread is back.
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
  const Write write_;

  std::mutex mutex_;
  std::condition_variable room_;
  bool stopped_ = false;
  bool writing_ = false;             // a thread is at it
  uint64_t claimed_;                 // positions before it were claimed
  uint64_t taken_;                   // positions before it were written
  size_t batches_ = 0;               // claimed, not yet written
  uint64_t bytes_ = 0;               // of them
  std::map<uint64_t, Batch> ready_;  // by their first position
  std::vector<Batch> spare_;
};

}  // namespace recpack::pack

// The slabs between the workers and the consumer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "recpack/base/slab.h"
#include "recpack/pipeline/audit.h"
#include "src/pipeline/forks.h"
#include "src/pipeline/stats_page.h"

namespace recpack {

// One slab and what is said of the batch in it. The batch's number tells whose turn it is: workers
// write batch n once `turn` is n, the consumer takes it once `ready` is n + 1.
struct RingSlot {
  std::shared_ptr<void> slab;
  std::vector<uint64_t> ids;
  std::vector<uint32_t> views;
  std::vector<uint8_t> mask;
  std::atomic<uint64_t> turn = 0;
  std::atomic<uint32_t> unfinished = 0;  // chunks of the batch, and publishing it

  std::mutex mutex;            // of all below, while workers write the batch
  std::exception_ptr failure;  // of the sample below
  uint64_t failed_position = 0;
  uint64_t delivered = 0;  // samples that are not masked, and the sum of their AuditHash()
  Sum128 delivered_sum;

  uint8_t* bytes() const noexcept { return static_cast<uint8_t*>(slab.get()); }
};

// Batches are numbered from 0 and published in order. Lives as long as a batch is held.
class Ring {
 public:
  // Counts batches on the page.
  Ring(size_t slots, size_t slab_bytes, uint32_t samples, uint32_t chunks, SlabAllocator& slabs,
       std::shared_ptr<StatsPage> page);

  size_t size() const noexcept { return slots_.size(); }
  RingSlot& slot(uint64_t batch) noexcept { return *slots_[batch % slots_.size()]; }

  // What a worker that wants to write a batch does next.
  enum class Turn : uint8_t {
    kRoom,   // it writes it
    kExtra,  // it makes a chunk that is thrown away, and asks again
    kStop,   // nothing more
  };
  // Workers: waits for something to do.
  Turn WaitForRoom(uint64_t batch);

  // Consumer: workers begin no further chunk of a batch until they may again; what is made so far
  // stays, as it is.
  void Pause(bool paused) noexcept;

  // Consumer: workers that wait for room may make so many more chunks, but no more than the ring
  // holds ahead of what was asked for.
  void AllowExtra(uint32_t chunks) noexcept;
  void ForbidExtra() noexcept { extra_ = 0; }
  void CountThrown() noexcept { page_->blocks().control.thrown.fetch_add(1); }

  // Workers: a chunk of the batch is done. True for the last one: the batch is the caller's alone
  // until it publishes it.
  bool FinishChunk(uint64_t batch);
  void Publish(uint64_t batch);

  // Workers: a sample failed. The lowest position is kept, whatever the order in which they fail.
  void Fail(uint64_t batch, uint64_t position, std::exception_ptr failure);

  // Consumer: whether the slab that the batch needs is still held by the consumer itself.
  bool HeldFor(uint64_t batch) { return slot(batch).turn != batch; }

  // Consumer: whether the batch is whole.
  bool Ready(uint64_t batch) { return !HeldFor(batch) && slot(batch).unfinished == 0; }

  // Consumer, where the slab is not held: waits until the batch is whole; false: it took longer
  // than `timeout`.
  template <typename Duration>
  bool WaitUntilReady(uint64_t batch, Duration timeout) {
    std::unique_lock lock(mutex_);
    return ready_.wait_for(lock, timeout, [&] { return slot(batch).unfinished == 0; });
  }

  // Consumer, any thread: the slab may be written anew.
  void Release(uint64_t batch) noexcept;

  // Wakes all workers and lets none begin.
  void Stop() noexcept;
  bool stopped() const noexcept { return stopped_; }

 private:
  bool TakeExtra() noexcept;
  void WakeWorkers() noexcept;

  const uint32_t chunks_;
  const std::shared_ptr<StatsPage> page_;
  const ForkMark mark_;
  std::vector<std::unique_ptr<RingSlot>> slots_;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> paused_ = false;
  std::atomic<uint32_t> extra_ = 0;    // chunks
  std::atomic<uint32_t> changes_ = 0;  // of what waiting workers look at
  std::mutex mutex_;
  std::condition_variable ready_;
};

}  // namespace recpack

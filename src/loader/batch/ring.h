// The slabs between the workers and the consumer.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "recpack/loader/audit.h"
#include "src/loader/batch/batch_memory.h"
#include "src/loader/batch/forks.h"
#include "src/loader/batch/stats_page.h"

namespace recpack {

// The place of a batch. Its number tells whose turn it is: workers write batch n once `turn` is n,
// the consumer takes it once `unfinished` is 0.
struct RingSlot {
  // The first worker that writes the batch takes it; who lets go of the batch gives it back.
  std::shared_ptr<BatchMemory> memory;
  std::atomic<bool> has_memory = false;
  std::atomic<uint64_t> turn = 0;
  std::atomic<uint32_t> unfinished = 0;  // chunks of the batch, and publishing it
  // The number of the batch that is held and in it, and 1; 0: none. Who sets it to 0 reopens it.
  std::atomic<uint64_t> held = 0;

  std::mutex mutex;            // of all below, while workers write the batch
  std::exception_ptr failure;  // of the sample below
  uint64_t failed_position = 0;
  uint64_t delivered = 0;  // samples that are not masked, and the sum of their AuditHash()
  Sum128 delivered_sum;
};

// Batches are numbered from 0 and published in order.
class Ring : public std::enable_shared_from_this<Ring> {
 public:
  // Which memory a batch is written to.
  enum class Memory : uint8_t {
    kLastUsed,  // what came back last: it is still in the processor's caches
    kOfSlot,    // that of batch n is batch n + slots': slabs stay near the device that they serve
  };

  // Counts batches on the page. `slabs`: for the consumer's thread, as long as it takes batches.
  Ring(size_t slots, size_t slab_bytes, uint32_t samples, uint32_t chunks, SlabAllocator& slabs,
       Memory memory, std::shared_ptr<StatsPage> page);

  size_t size() const noexcept { return slots_.size(); }
  RingSlot& slot(uint64_t batch) noexcept { return *slots_[batch % slots_.size()]; }

  // What a worker that wants to write a batch does next.
  enum class Turn : uint8_t {
    kRoom,   // it writes it: the slot has memory
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

  // Consumer: waits until the batch is whole; false: it took longer than `timeout`, or WaitNoMore()
  // was called.
  bool WaitUntilReady(uint64_t batch, std::chrono::milliseconds timeout);

  // Any thread: the consumer waits for no batch any more.
  void WaitNoMore() noexcept;
  bool waits_no_more() const noexcept { return waits_no_more_; }

  // Consumer: the batch, which is whole, is held until the result is gone, on any thread and also
  // after the ring. Its memory is then written anew.
  std::shared_ptr<void> Give(uint64_t batch);

  // Batches that are held now.
  uint32_t held() const noexcept { return held_; }

  // Consumer: a batch that is still held leaves the ring, with its memory; the slot has other
  // memory next. Throws what the allocator throws, and is then as before.
  void Replace(uint64_t batch);

  // Wakes all workers and lets none begin.
  void Stop() noexcept;
  bool stopped() const noexcept { return stopped_; }

 private:
  void Release(uint64_t batch, std::shared_ptr<BatchMemory> memory) noexcept;
  void Furnish(RingSlot& at) noexcept;
  static void LeaveMemory(RingSlot& at) noexcept;
  bool EndHolding(uint64_t batch) noexcept;
  void Reopen(uint64_t batch) noexcept;
  bool TakeExtra() noexcept;
  void WakeWorkers() noexcept;

  const uint32_t chunks_;
  const Memory memory_;
  const std::shared_ptr<StatsPage> page_;
  const ForkMark mark_;
  BatchMemories memories_;
  std::vector<std::unique_ptr<RingSlot>> slots_;
  std::atomic<uint32_t> held_ = 0;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> paused_ = false;
  std::atomic<bool> waits_no_more_ = false;
  std::atomic<uint32_t> extra_ = 0;    // chunks
  std::atomic<uint32_t> changes_ = 0;  // of what waiting workers look at
  std::mutex mutex_;
  std::condition_variable ready_;
};

}  // namespace recpack

// Ring of batches between the workers and the consumer.
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

// Slot of a batch. `turn` synchronises access: workers write batch n once `turn` is n; the consumer
// takes it once `unfinished` is 0.
struct RingSlot {
  // Taken by the first worker that writes the batch, returned by whoever releases the batch.
  std::shared_ptr<BatchMemory> memory;
  std::atomic<bool> has_memory = false;
  std::atomic<uint64_t> turn = 0;
  std::atomic<uint32_t> unfinished = 0;  // remaining chunks, plus one for publishing
  // Number, plus 1, of the batch that is held and still in the ring; 0: none. Whoever sets it to 0
  // reopens the slot.
  std::atomic<uint64_t> held = 0;

  std::mutex mutex;            // guards the members below while workers write the batch
  std::exception_ptr failure;  // error of the sample at failed_position
  uint64_t failed_position = 0;
  uint64_t delivered = 0;  // unmasked samples, and the sum of their AuditHash()
  Sum128 delivered_sum;
};

// Batches are numbered from 0 and published in order.
class Ring : public std::enable_shared_from_this<Ring> {
 public:
  // Choice of the memory for a batch.
  enum class Memory : uint8_t {
    kLastUsed,  // most recently returned: still in the CPU's caches
    kOfSlot,    // batches n and n + slots share memory: slabs stay near the device that they serve
  };

  // Counts batches on the page. `slabs` is used by the consumer's thread, as long as it takes
  // batches.
  Ring(size_t slots, size_t slab_bytes, uint32_t samples, uint32_t chunks, SlabAllocator& slabs,
       Memory memory, std::shared_ptr<StatsPage> page);

  size_t size() const noexcept { return slots_.size(); }
  RingSlot& slot(uint64_t batch) noexcept { return *slots_[batch % slots_.size()]; }

  // What a worker that waits for room is to do next.
  enum class Turn : uint8_t {
    kRoom,   // write the batch: the slot has memory
    kExtra,  // make a chunk that is discarded, then ask again
    kStop,   // end
  };
  // Workers: waits for something to do.
  Turn WaitForRoom(uint64_t batch);

  // Consumer: while paused, workers do not begin further chunks; finished chunks are kept.
  void Pause(bool paused) noexcept;

  // Consumer: lets workers that wait for room make `chunks` more chunks; the total is limited to
  // what the ring holds ahead of the requests.
  void AllowExtra(uint32_t chunks) noexcept;
  void ForbidExtra() noexcept { extra_ = 0; }
  void CountThrown() noexcept { page_->blocks().control.thrown.fetch_add(1); }

  // Workers: marks a chunk as done. Returns true for the last one: the caller then owns the batch
  // until it publishes it.
  bool FinishChunk(uint64_t batch);
  void Publish(uint64_t batch);

  // Workers: records the failure of a sample. The failure at the lowest position is kept, whatever
  // their order.
  void Fail(uint64_t batch, uint64_t position, std::exception_ptr failure);

  // Consumer: returns true if the consumer itself still holds the slab that the batch needs.
  bool HeldFor(uint64_t batch) { return slot(batch).turn != batch; }

  // Consumer: returns true if the batch is complete.
  bool Ready(uint64_t batch) { return !HeldFor(batch) && slot(batch).unfinished == 0; }

  // Consumer: waits until the batch is complete. Returns false after `timeout` or if WaitNoMore()
  // was called.
  bool WaitUntilReady(uint64_t batch, std::chrono::milliseconds timeout);

  // Thread-safe: the consumer stops waiting for batches.
  void WaitNoMore() noexcept;
  bool waits_no_more() const noexcept { return waits_no_more_; }

  // Consumer: hands out a complete batch, which is held until the result is destroyed; any thread
  // may do that, also after the ring. The memory is reused afterwards.
  std::shared_ptr<void> Give(uint64_t batch);

  // Number of batches held now.
  uint32_t held() const noexcept { return held_; }

  // Consumer: takes a batch that is still held out of the ring, with its memory; the slot gets
  // other memory. On failure throws what the allocator throws and changes nothing.
  void Replace(uint64_t batch);

  // Wakes all workers and makes them end.
  void Stop() noexcept;
  bool stopped() const noexcept { return stopped_; }

 private:
  void Release(uint64_t batch, std::shared_ptr<BatchMemory> memory) noexcept;
  void AssignMemory(RingSlot& at) noexcept;
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
  std::atomic<uint32_t> changes_ = 0;  // version of what waiting workers check
  std::mutex mutex_;
  std::condition_variable ready_;
};

}  // namespace recpack

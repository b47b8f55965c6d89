#include "src/loader/batch/ring.h"

#include <algorithm>

#include "recpack/base/clock.h"

namespace recpack {
namespace {

constexpr uint64_t kNever = ~uint64_t{0};

}  // namespace

Ring::Ring(size_t slots, size_t slab_bytes, uint32_t samples, uint32_t chunks, SlabAllocator& slabs,
           Memory memory, std::shared_ptr<StatsPage> page)
    : chunks_(chunks),
      memory_(memory),
      page_(std::move(page)),
      memories_(slab_bytes, samples, slabs, *page_) {
  for (size_t i = 0; i < slots; ++i) {
    auto slot = std::make_unique<RingSlot>();
    memories_.Reserve();
    slot->turn = i;
    slot->unfinished = chunks + 1;
    if (memory == Memory::kOfSlot) AssignMemory(*slot);  // in order
    slots_.push_back(std::move(slot));
  }
}

Ring::Turn Ring::WaitForRoom(uint64_t batch) {
  for (;;) {
    const uint32_t seen = changes_.load(std::memory_order_acquire);
    if (stopped_) return Turn::kStop;
    if (!paused_ && slot(batch).turn.load(std::memory_order_acquire) == batch) {
      AssignMemory(slot(batch));
      return Turn::kRoom;
    }
    if (TakeExtra()) return Turn::kExtra;
    changes_.wait(seen, std::memory_order_acquire);
  }
}

void Ring::AssignMemory(RingSlot& at) noexcept {
  if (at.has_memory.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(at.mutex);
  if (at.memory) return;
  at.memory = memories_.Take();
  at.has_memory.store(true, std::memory_order_release);
}

void Ring::WakeWorkers() noexcept {
  changes_.fetch_add(1, std::memory_order_release);
  changes_.notify_all();
}

void Ring::Pause(bool paused) noexcept {
  if (paused_.exchange(paused) && !paused) WakeWorkers();
}

void Ring::AllowExtra(uint32_t chunks) noexcept {
  const auto most = static_cast<uint32_t>(chunks_ * slots_.size());
  uint32_t now = extra_;
  while (!extra_.compare_exchange_weak(now, std::min(now + chunks, most))) {
  }
  WakeWorkers();
}

bool Ring::TakeExtra() noexcept {
  uint32_t now = extra_.load(std::memory_order_relaxed);
  while (now > 0) {
    if (extra_.compare_exchange_weak(now, now - 1)) return true;
  }
  return false;
}

bool Ring::FinishChunk(uint64_t batch) {
  return slot(batch).unfinished.fetch_sub(1, std::memory_order_acq_rel) == 2;
}

void Ring::Publish(uint64_t batch) {
  slot(batch).unfinished.store(0, std::memory_order_release);
  page_->blocks().ring.written.fetch_add(1, std::memory_order_relaxed);
  // Locks once, so that a consumer that has just checked is already waiting.
  { const std::lock_guard lock(mutex_); }
  ready_.notify_one();
}

void Ring::Fail(uint64_t batch, uint64_t position, std::exception_ptr failure) {
  RingSlot& at = slot(batch);
  const std::lock_guard lock(at.mutex);
  if (at.failure && at.failed_position <= position) return;
  at.failure = std::move(failure);
  at.failed_position = position;
}

bool Ring::WaitUntilReady(uint64_t batch, std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const auto over = [&] { return waits_no_more_ || Ready(batch); };
  return WaitPatiently(ready_, lock, timeout, over) && Ready(batch);
}

void Ring::WaitNoMore() noexcept {
  {
    const std::lock_guard lock(mutex_);
    waits_no_more_ = true;
  }
  ready_.notify_all();
}

std::shared_ptr<void> Ring::Give(uint64_t batch) {
  RingSlot& at = slot(batch);
  at.held.store(batch + 1, std::memory_order_relaxed);
  held_.fetch_add(1, std::memory_order_relaxed);
  return {at.memory.get(), [ring = weak_from_this(), memory = at.memory, batch](void*) mutable {
            if (const auto there = ring.lock()) there->Release(batch, std::move(memory));
          }};
}

void Ring::Replace(uint64_t batch) {
  RingSlot& at = slot(batch);
  if (at.held.load(std::memory_order_relaxed) != batch + 1) return;
  memories_.Reserve();
  if (!EndHolding(batch)) return memories_.Unreserve();  // released meanwhile
  LeaveMemory(at);
  Reopen(batch);
}

// Counted as released before its memory is available, so that the next one needs no new memory.
void Ring::Release(uint64_t batch, std::shared_ptr<BatchMemory> memory) noexcept {
  if (mark_.inherited()) return;  // page and workers belong to the parent
  page_->blocks().ring.released.fetch_add(1, std::memory_order_relaxed);
  if (!EndHolding(batch)) {
    memories_.Give(std::move(memory));
    memories_.Unreserve();
  } else {
    if (memory_ == Memory::kLastUsed) {
      LeaveMemory(slot(batch));
      memories_.Give(std::move(memory));
    }
    Reopen(batch);
  }
  held_.fetch_sub(1, std::memory_order_release);
}

// The slot's next batch gets other memory.
void Ring::LeaveMemory(RingSlot& at) noexcept {
  at.memory.reset();
  at.has_memory.store(false, std::memory_order_relaxed);
}

// Returns true if the batch was held and in the ring: for exactly one caller, which reopens the
// slot.
bool Ring::EndHolding(uint64_t batch) noexcept {
  uint64_t mine = batch + 1;
  return slot(batch).held.compare_exchange_strong(mine, 0, std::memory_order_acq_rel);
}

void Ring::Reopen(uint64_t batch) noexcept {
  RingSlot& at = slot(batch);
  at.delivered = 0;
  at.delivered_sum = {};
  at.unfinished.store(chunks_ + 1, std::memory_order_relaxed);
  uint64_t mine = batch;
  // Not if Stop() came first.
  at.turn.compare_exchange_strong(mine, batch + slots_.size(), std::memory_order_acq_rel);
  WakeWorkers();
}

void Ring::Stop() noexcept {
  stopped_ = true;
  for (const auto& slot : slots_) {
    slot->turn.store(kNever, std::memory_order_release);
  }
  WakeWorkers();
}

}  // namespace recpack

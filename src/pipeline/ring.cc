#include "src/pipeline/ring.h"

#include <algorithm>

namespace recpack {
namespace {

constexpr uint64_t kNever = ~uint64_t{0};

}  // namespace

Ring::Ring(size_t slots, size_t slab_bytes, uint32_t samples, uint32_t chunks, SlabAllocator& slabs,
           std::shared_ptr<StatsPage> page)
    : chunks_(chunks), page_(std::move(page)) {
  for (size_t i = 0; i < slots; ++i) {
    auto slot = std::make_unique<RingSlot>();
    slot->slab = slabs.Allocate(slab_bytes);
    slot->ids.resize(samples);
    slot->views.resize(samples);
    slot->mask.resize(samples);
    slot->turn = i;
    slot->unfinished = chunks + 1;
    slots_.push_back(std::move(slot));
  }
}

Ring::Turn Ring::WaitForRoom(uint64_t batch) {
  for (;;) {
    const uint32_t seen = changes_.load(std::memory_order_acquire);
    if (stopped_) return Turn::kStop;
    if (!paused_ && slot(batch).turn.load(std::memory_order_acquire) == batch) return Turn::kRoom;
    if (TakeExtra()) return Turn::kExtra;
    changes_.wait(seen, std::memory_order_acquire);
  }
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
  // Taken and left, so that a consumer that looked just before is already waiting.
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

void Ring::Release(uint64_t batch) noexcept {
  if (mark_.inherited()) return;  // the page and the workers are the parent's
  RingSlot& at = slot(batch);
  page_->blocks().ring.released.fetch_add(1, std::memory_order_relaxed);
  at.delivered = 0;
  at.delivered_sum = {};
  at.unfinished.store(chunks_ + 1, std::memory_order_relaxed);
  uint64_t mine = batch;
  // Not where Stop() was there before.
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

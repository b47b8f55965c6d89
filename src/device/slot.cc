#include "src/device/slot.h"

namespace recpack {

std::optional<size_t> SlotPool::Take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || !free_.empty(); });
  if (stopped_) return std::nullopt;
  const size_t slot = free_.front();
  free_.erase(free_.begin());
  return slot;
}

void SlotPool::Give(size_t slot, bool delivered) noexcept {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(slot);  // capacity was reserved by the constructor
    if (delivered) --delivered_;
  }
  changed_.notify_all();
}

void SlotPool::Stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

void SlotPool::Deliver() {
  const std::lock_guard lock(mutex_);
  ++delivered_;
}

bool SlotPool::AllDelivered() const {
  const std::lock_guard lock(mutex_);
  return delivered_ == slots_;
}

}  // namespace recpack

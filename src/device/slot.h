// Slots of a lane; each holds one batch that is being copied, ready or with its consumer.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "recpack/device/runtime.h"

namespace recpack {

// Pool of free slots. Shared with batches, so it may outlive the feeder.
class SlotPool {
 public:
  explicit SlotPool(size_t slots) : slots_(slots) {
    for (size_t i = 0; i < slots; ++i) free_.push_back(i);
  }

  // Waits for a free slot; nullopt once Stop() was called.
  std::optional<size_t> Take();
  void Give(size_t slot, bool delivered) noexcept;
  void Stop() noexcept;

  void Deliver();             // notes that a slot goes to the consumer
  bool AllDelivered() const;  // true if the consumer holds every slot

 private:
  const size_t slots_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<size_t> free_;  // least recently used first
  size_t delivered_ = 0;
  bool stopped_ = false;
};

// Owns a slot for a batch; returns it to the pool on destruction.
class DeviceSlot {
 public:
  DeviceSlot(std::shared_ptr<SlotPool> pool, size_t index)
      : pool_(std::move(pool)), index_(index) {}
  virtual ~DeviceSlot() { pool_->Give(index_, delivered_); }
  DeviceSlot(const DeviceSlot&) = delete;
  DeviceSlot& operator=(const DeviceSlot&) = delete;

  virtual void OnStream(DeviceStream stream) = 0;

  void Deliver() {
    pool_->Deliver();
    delivered_ = true;
  }
  size_t index() const noexcept { return index_; }

 private:
  std::shared_ptr<SlotPool> pool_;
  size_t index_;
  bool delivered_ = false;
};

}  // namespace recpack

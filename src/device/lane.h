// One device's part of a feeder, or the host's.
#pragma once

#include <memory>
#include <vector>

#include "recpack/loader/batch.h"
#include "src/device/layout.h"
#include "src/device/slot.h"

namespace recpack {

class Releaser;

// A batch in a slot, and where its arrays lie.
struct LaneBatch {
  std::unique_ptr<DeviceSlot> slot;
  std::vector<const void*> data;
};

// Used by the feeder's thread.
class Lane {
 public:
  virtual ~Lane() = default;

  // Begins to bring the batch into a slot that was taken from `pool`, and gives it back with it, or
  // on failure. Throws what the runtime throws.
  virtual LaneBatch Bring(size_t slot, const std::shared_ptr<const Batch>& batch) = 0;

  const std::shared_ptr<SlotPool>& pool() const noexcept { return pool_; }
  int device() const noexcept { return device_; }

 protected:
  Lane(int device, size_t slots) : pool_(std::make_shared<SlotPool>(slots)), device_(device) {}

  std::shared_ptr<SlotPool> pool_;
  int device_;
};

// Batches stay in the loader's slabs; pictures that the loader left are finished here.
std::shared_ptr<Lane> MakeHostLane(const DeviceLayout& layout, size_t slots);

// Batches are copied to the device and finished there.
std::shared_ptr<Lane> MakeCopyLane(DeviceRuntime& runtime, int device, const DeviceLayout& layout,
                                   size_t slots, Releaser& releaser);

}  // namespace recpack

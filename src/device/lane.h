// Lane: a feeder's part for one device, or for the host.
#pragma once

#include <memory>
#include <vector>

#include "recpack/loader/batch.h"
#include "src/device/layout.h"
#include "src/device/slot.h"

namespace recpack {

class Releaser;

// A batch in a slot, with pointers to its arrays.
struct LaneBatch {
  std::unique_ptr<DeviceSlot> slot;
  std::vector<const void*> data;
};

// Used by the feeder's thread only.
class Lane {
 public:
  virtual ~Lane() = default;

  // Starts bringing the batch into a slot that was taken from `pool`. Returns the slot with the
  // batch; on failure gives it back. Throws what the runtime throws.
  virtual LaneBatch Bring(size_t slot, const std::shared_ptr<const Batch>& batch) = 0;

  const std::shared_ptr<SlotPool>& pool() const noexcept { return pool_; }
  int device() const noexcept { return device_; }

 protected:
  Lane(int device, size_t slots) : pool_(std::make_shared<SlotPool>(slots)), device_(device) {}

  std::shared_ptr<SlotPool> pool_;
  int device_;
};

// Batches stay in the loader's slabs; images that the loader left unfinished are finished here.
std::shared_ptr<Lane> MakeHostLane(const DeviceLayout& layout, size_t slots);

// Batches are copied to the device and finished there.
std::shared_ptr<Lane> MakeCopyLane(DeviceRuntime& runtime, int device, const DeviceLayout& layout,
                                   size_t slots, Releaser& releaser);

}  // namespace recpack

// Pinned host memory, near the devices that copy from it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "recpack/base/slab.h"
#include "recpack/device/runtime.h"

namespace recpack {

// Returns the NUMA node that the device is attached to; -1 if unknown or if the machine has no
// nodes. `sysfs`: mount point of sysfs, for tests.
int NumaNode(const std::string& pci_bus, const std::string& sysfs = "/sys");

// Asks the kernel to allocate the memory's pages, which must be untouched, on the node while it has
// room. Returns false if the kernel refuses: the memory works as well, but may be remote.
bool PreferNode(void* memory, size_t bytes, int node) noexcept;

// Allocates pinned slabs: slab i is near device i modulo the number of devices. A DeviceFeeder
// deals batches the same way if its loader's slabs are used in turn
// (LoaderOptions::max_live_batches 0).
class PinnedSlabs final : public SlabAllocator {
 public:
  // `runtime` must outlive all slabs. Throws Error (kDevice).
  PinnedSlabs(DeviceRuntime& runtime, const std::vector<int>& devices);

  // Throws Error (kDevice) if the memory cannot be pinned.
  std::shared_ptr<void> Allocate(size_t bytes) override;

 private:
  DeviceRuntime& runtime_;
  std::vector<int> nodes_;
  size_t next_ = 0;
};

}  // namespace recpack

// Memory of the host that devices copy from.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "recpack/base/slab.h"
#include "recpack/device/runtime.h"

namespace recpack {

// The NUMA node that the device is attached to; -1: unknown, or the machine has no nodes.
// `sysfs`: where the kernel's files lie, for tests.
int NumaNodeOf(const std::string& pci_bus, const std::string& sysfs = "/sys");

// Asks that pages of the memory, none of which was touched yet, come from the node where it has
// room. Returns false where the kernel refuses: the memory is as good then, only further away.
bool PreferNode(void* memory, size_t bytes, int node) noexcept;

// Pinned slabs: slab i is near to device i modulo their number, as a DeviceFeeder deals batches
// where its loader's slabs go round (LoaderOptions::max_live_batches 0).
class PinnedSlabs final : public SlabAllocator {
 public:
  // `runtime` outlives all slabs. Throws Error (kDevice).
  PinnedSlabs(DeviceRuntime& runtime, const std::vector<int>& devices);

  // Throws Error (kDevice) where the memory cannot be pinned.
  std::shared_ptr<void> Allocate(size_t bytes) override;

 private:
  DeviceRuntime& runtime_;
  std::vector<int> nodes_;
  size_t next_ = 0;
};

}  // namespace recpack

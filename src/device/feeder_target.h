// Destination of a feeder's batches, and the loader options that it needs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "recpack/device/feeder.h"

namespace recpack {

inline bool IsDevice(int number) { return number != kHostConsumer; }

struct FeederTarget {
  DeviceRuntime* runtime = nullptr;  // null: the host
  std::vector<int> devices;          // by number; on the host, one per consumer
  size_t depth = 0;                  // batches per consumer
  std::string reason;                // why batches stay on the host

  // Returns true if there are consumers that hold the loader's own slabs.
  bool uses_host() const;
};

// Throws Error: kInvalidArgument for a depth of 0, kDevice for a device that does not exist.
FeederTarget ChooseTarget(const DeviceFeederOptions& options);

// Returns the options of a loader whose batches go to `target`: enough slabs, taken from `slabs`
// unless the options have an allocator of their own, and images that the device finishes. Throws
// Error (kUnsupported) for fields per view on devices.
LoaderOptions ToFeed(LoaderOptions options, const FeederTarget& target, SlabAllocator* slabs);

}  // namespace recpack

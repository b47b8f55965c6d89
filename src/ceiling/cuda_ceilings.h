// What NVIDIA's GPUs take from the host at best, by the driver's own calls: no build needs CUDA for
// it.
#pragma once

#include "src/ceiling/ceiling.h"

namespace recpack::ceiling {

inline constexpr const char* kCudaDriver = "libcuda.so.1";

// How many GPUs the process may use; 0: none, and `reason` says why.
struct CudaDeviceCount {
  int devices = 0;
  std::string reason = {};
};
CudaDeviceCount CountCudaDevices(const std::string& library = kCudaDriver);

// Bytes from pinned memory to GPUs, in copies of 16 MiB. Thread i copies to GPU i, beginning again
// where there are more threads.
Rate PinnedCopyCeiling(const CeilingOptions& options, const std::string& library = kCudaDriver);

// Launches of an empty kernel, one behind another on a stream, which is waited for every 256.
Rate LaunchCeiling(const CeilingOptions& options, const std::string& library = kCudaDriver);

}  // namespace recpack::ceiling

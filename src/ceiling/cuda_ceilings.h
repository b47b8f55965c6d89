// Performance ceilings of NVIDIA GPUs: copies and kernel launches, through the driver API, so that
// no build needs CUDA.
#pragma once

#include "src/ceiling/ceiling.h"

namespace recpack::ceiling {

inline constexpr const char* kCudaDriver = "libcuda.so.1";

// Number of GPUs that the process may use; if 0, `reason` says why.
struct CudaDeviceCount {
  int devices = 0;
  std::string reason = {};
};
CudaDeviceCount CountCudaDevices(const std::string& library = kCudaDriver);

// Bytes copied from pinned memory to GPUs, in copies of 16 MiB. Thread i copies to GPU i modulo
// their number.
Rate PinnedCopyCeiling(const CeilingOptions& options, const std::string& library = kCudaDriver);

// Launches of an empty kernel on one stream per thread, synchronised every 256 launches.
Rate LaunchCeiling(const CeilingOptions& options, const std::string& library = kCudaDriver);

}  // namespace recpack::ceiling

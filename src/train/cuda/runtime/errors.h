// Converts failed CUDA calls to Error, and allocates memory.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>

namespace recpack::train {

// Throws Error (kDevice) with the call and the reason, or OutOfMemory. Errors of earlier kernels
// surface in later calls.
void Check(cudaError_t error, const char* call);

// cudaMalloc on the current device. Throws OutOfMemory with the device, the requested and the
// available bytes.
void* CudaAllocate(size_t bytes);

// Pinned host memory, usable by all devices.
std::shared_ptr<void> CudaHostMemory(size_t bytes);

}  // namespace recpack::train

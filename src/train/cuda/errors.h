// What CUDA says of a call that failed, as an Error.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>

namespace recpack::train {

// Throw Error (kDevice) that names the call and the reason; OutOfMemory where that is it. An error
// of an earlier kernel is told by the call that finds it.
void Check(cudaError_t error, const char* call);

// cudaMalloc on the current device. Throws OutOfMemory that names it, with what was asked for and
// what there is.
void* CudaAllocate(size_t bytes);

// Pinned memory of the host, for all devices.
std::shared_ptr<void> CudaHostMemory(size_t bytes);

}  // namespace recpack::train

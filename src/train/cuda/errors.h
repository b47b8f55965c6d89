// What CUDA says of a call that failed, as an Error.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace recpack {

// Throw Error (kDevice) that names the call and the reason. An error of an earlier kernel is told
// by the call that finds it.
void Check(cudaError_t error, const char* call);

// cudaMalloc, with what was asked for and what there is if it fails.
void* CudaAllocate(size_t bytes);

}  // namespace recpack

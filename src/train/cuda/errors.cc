#include "src/train/cuda/errors.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {

void Check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // it is told here, and by no later call
  throw Error(ErrorKind::kDevice,
              format("{}: {} ({})", call, cudaGetErrorString(error), cudaGetErrorName(error)));
}

void* CudaAllocate(size_t bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, std::max<size_t>(bytes, 1));
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    throw Error(
        ErrorKind::kDevice,
        format("the GPU has no memory for {} more bytes: {} of {} are free", bytes, free, total),
        {}, "use a smaller batch");
  }
  Check(error, "cudaMalloc");
  return memory;
}

}  // namespace recpack

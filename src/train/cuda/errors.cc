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
    int device = 0;
    cudaGetDevice(&device);
    throw Error(ErrorKind::kDevice,
                format("cuda:{} has no memory for {} more bytes: {} of {} are free", device, bytes,
                       free, total),
                {}, "use a smaller batch, a smaller model or bf16, or fewer devices on this GPU");
  }
  Check(error, "cudaMalloc");
  return memory;
}

std::shared_ptr<void> CudaHostMemory(size_t bytes) {
  void* memory = nullptr;
  Check(cudaHostAlloc(&memory, std::max<size_t>(bytes, 1), cudaHostAllocPortable), "cudaHostAlloc");
  return {memory, [](void* pinned) { cudaFreeHost(pinned); }};
}

}  // namespace recpack

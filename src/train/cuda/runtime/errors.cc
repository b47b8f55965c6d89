#include "src/train/cuda/runtime/errors.h"

#include <algorithm>

#include "recpack/base/out_of_memory.h"
#include "src/base/format.h"

namespace recpack::train {

namespace {

constexpr char kAdvice[] =
    "use a smaller --batch-size, a smaller model or bf16, or fewer devices on this GPU";

[[noreturn]] void ThrowOutOfMemory(const std::string& purpose) {
  cudaGetLastError();
  size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  int device = 0;
  cudaGetDevice(&device);
  throw OutOfMemory(
      format("cuda:{} has no memory for {}: {} of {} are free", device, purpose, free, total),
      kAdvice);
}

}  // namespace

void Check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  if (error == cudaErrorMemoryAllocation) ThrowOutOfMemory(call);
  cudaGetLastError();  // clears the error, which is reported here
  throw Error(ErrorKind::kDevice,
              format("{}: {} ({})", call, cudaGetErrorString(error), cudaGetErrorName(error)));
}

void* CudaAllocate(size_t bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, std::max<size_t>(bytes, 1));
  if (error == cudaErrorMemoryAllocation) {
    ThrowOutOfMemory(format("{} more bytes", bytes));
  }
  Check(error, "cudaMalloc");
  return memory;
}

std::shared_ptr<void> CudaHostMemory(size_t bytes) {
  void* memory = nullptr;
  const cudaError_t error =
      cudaHostAlloc(&memory, std::max<size_t>(bytes, 1), cudaHostAllocPortable);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw OutOfMemory(
        format("the host has no memory for {} more pinned bytes", bytes),
        "use a smaller --batch-size or model, or raise the limit of locked memory (ulimit -l)");
  }
  Check(error, "cudaHostAlloc");
  return {memory, [](void* pinned) { cudaFreeHost(pinned); }};
}

}  // namespace recpack::train

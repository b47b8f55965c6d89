// CUDA C++ language features that Recpack's kernels use, for compiling them for the host. Included
// before the .cu file.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <tuple>

#undef __global__
#undef __device__
#undef __shared__
#undef __grid_constant__
#define __global__
#define __device__
#define __grid_constant__
#define __shared__ static  // blocks run one at a time

// Indices of the running thread.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace recpack::emulated {

// Waits for all threads of the block. Ends the program if one of them has returned, which CUDA
// leaves undefined.
void Barrier();

// Checks a launch as CUDA does, and enqueues `thread`, the work of one thread.
cudaError_t LaunchGrid(const cudaLaunchConfig_t& config, std::function<void()> thread);

template <typename... Parameters, typename... Arguments>
cudaError_t LaunchKernel(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                         Arguments&&... arguments) {
  // The launch copies its arguments.
  return LaunchGrid(
      *config, [kernel, all = std::tuple<Parameters...>(static_cast<Parameters>(arguments)...)] {
        std::apply(kernel, all);
      });
}

}  // namespace recpack::emulated

#define cudaLaunchKernelEx recpack::emulated::LaunchKernel

inline void __syncthreads() { recpack::emulated::Barrier(); }

inline uint32_t min(uint32_t a, uint32_t b) { return std::min(a, b); }
inline uint32_t max(uint32_t a, uint32_t b) { return std::max(a, b); }

// Threads run one at a time.
template <typename T>
T atomicAdd(T* to, T value) {
  const T before = *to;
  *to += value;
  return before;
}

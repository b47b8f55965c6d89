// What CUDA C++ adds to C++, as far as Recpack's kernels use it. Included ahead of a .cu file that
// is compiled for the host.
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
#define __shared__ static  // one block runs at a time

// Of the thread that runs.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace recpack::emulated {

// Waits for all threads of the block. Ends the program where one of them has returned: CUDA leaves
// open what is then.
void Barrier();

// Checks what CUDA checks of a launch, and enqueues `thread`, which is one thread's work.
cudaError_t LaunchGrid(const cudaLaunchConfig_t& config, std::function<void()> thread);

template <typename... Parameters, typename... Arguments>
cudaError_t LaunchKernel(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                         Arguments&&... arguments) {
  // Parameters are copied by the launch.
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

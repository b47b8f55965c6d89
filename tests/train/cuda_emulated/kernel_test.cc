// Tests that the emulated machine runs kernels as CUDA does, and detects their errors.
#include <gtest/gtest.h>

#include <vector>

#include "tests/train/cuda_emulated/device_array.h"
#include "tests/train/cuda_emulated/emulated_machine.h"
#include "tests/train/cuda_emulated/kernel_language.h"

namespace recpack::train {
namespace {

constexpr uint32_t kThreads = 64;

__global__ void Number(uint32_t* to) {
  to[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
}

// Reverses the thread numbers by way of shared memory.
__global__ void Reverse(bool wait, uint32_t* to) {
  __shared__ uint32_t shared[kThreads];
  shared[threadIdx.x] = threadIdx.x;
  if (wait) __syncthreads();
  to[threadIdx.x] = shared[kThreads - 1 - threadIdx.x];
  __syncthreads();
  shared[threadIdx.x] = 7777;
}

__global__ void HalfReturns() {
  if (threadIdx.x % 2 == 0) return;
  __syncthreads();
}

__global__ void Touch(uint32_t* at) { *at = 1; }

cudaError_t Start(dim3 grid, dim3 block, cudaStream_t stream = nullptr) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, Touch, static_cast<uint32_t*>(nullptr));
}

template <typename... Parameters, typename... Arguments>
void RunKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
               const Arguments&... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  ASSERT_EQ(cudaLaunchKernelEx(&config, kernel, arguments...), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

class EmulatedKernel : public EmulatedMachine {};
using EmulatedKernelDeathTest = EmulatedKernel;

TEST_F(EmulatedKernel, RunsEveryThreadOfEveryBlock) {
  const DeviceArray32 array(3 * kThreads);
  RunKernel(Number, dim3(3), dim3(kThreads), array.data());
  const auto values = array.Values();
  for (uint32_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i], i / kThreads * 1000 + i % kThreads);
  }
}

TEST_F(EmulatedKernel, BarriersOrderThreads) {
  const DeviceArray32 array(kThreads);
  RunKernel(Reverse, dim3(1), dim3(kThreads), true, array.data());
  const auto values = array.Values();
  for (uint32_t i = 0; i < kThreads; ++i) EXPECT_EQ(values[i], kThreads - 1 - i);
}

TEST_F(EmulatedKernel, WithoutABarrierTheResultIsWrong) {
  const DeviceArray32 array(kThreads);
  RunKernel(Reverse, dim3(1), dim3(kThreads), true, array.data());
  const auto right = array.Values();
  RunKernel(Reverse, dim3(1), dim3(kThreads), false, array.data());
  EXPECT_NE(array.Values(), right);
}

TEST_F(EmulatedKernel, LaunchesAreCheckedAsCudaDoes) {
  EXPECT_EQ(Start(dim3(0), dim3(1)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(Start(dim3(1), dim3(0)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(Start(dim3(1), dim3(1025)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(Start(dim3(1), dim3(64, 32)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(Start(dim3(1, 65536), dim3(1)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(Start(dim3(1), dim3(1), stream), cudaErrorInvalidResourceHandle)
      << "a stream of another device";
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(EmulatedKernelDeathTest, ThreadsThatReturnBeforeABarrierAreFound) {
  EXPECT_DEATH(RunKernel(HalfReturns, dim3(1), dim3(kThreads)), "return before a barrier");
}

TEST_F(EmulatedKernelDeathTest, MemoryThatIsNotTheDevicesIsFound) {
  auto* const array = new DeviceArray32(16);
  EXPECT_DEATH(RunKernel(Touch, dim3(1), dim3(1), array->data() + 64), "") << "past its end";
  EXPECT_DEATH(*array->data() = 1, "") << "the host's own access";
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_DEATH(RunKernel(Touch, dim3(1), dim3(1), array->data()), "") << "another device";
  ASSERT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaSuccess);
  RunKernel(Touch, dim3(1), dim3(1), array->data());
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  uint32_t* const freed = array->data();
  delete array;
  EXPECT_DEATH(RunKernel(Touch, dim3(1), dim3(1), freed), "") << "freed";
}

}  // namespace
}  // namespace recpack::train

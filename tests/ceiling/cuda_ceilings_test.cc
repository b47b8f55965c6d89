#include "src/ceiling/cuda_ceilings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace recpack::ceiling {
namespace {

using testing::HasSubstr;

constexpr CeilingOptions kThreeThreads{.threads = 3, .time = std::chrono::milliseconds(5)};

class CudaCeilings : public testing::Test {
 protected:
  ~CudaCeilings() override { ::unsetenv("FAKE_CUDA_DRIVER"); }
  static void Say(const std::string& script) { ::setenv("FAKE_CUDA_DRIVER", script.c_str(), 1); }
};

TEST_F(CudaCeilings, WithoutADriverTheReasonIsTold) {
  const std::string nowhere = "/nowhere/libcuda.so.1";
  EXPECT_EQ(CountCudaDevices(nowhere).devices, 0);
  EXPECT_THAT(CountCudaDevices(nowhere).reason, HasSubstr("--gpus all"));
  EXPECT_THAT(PinnedCopyCeiling(kThreeThreads, nowhere).unavailable, HasSubstr("/nowhere"));
  EXPECT_THAT(LaunchCeiling(kThreeThreads, nowhere).unavailable, HasSubstr("/nowhere"));
}

TEST_F(CudaCeilings, WithoutADeviceToo) {
  Say("0");
  EXPECT_THAT(CountCudaDevices(RECPACK_FAKE_CUDA_DRIVER).reason, HasSubstr("no device"));
  EXPECT_THAT(LaunchCeiling(kThreeThreads, RECPACK_FAKE_CUDA_DRIVER).unavailable,
              HasSubstr("no device"));
}

TEST_F(CudaCeilings, AreMeasuredOnAllDevices) {
  Say("2");
  EXPECT_EQ(CountCudaDevices(RECPACK_FAKE_CUDA_DRIVER).devices, 2);
  const Rate copy = PinnedCopyCeiling(kThreeThreads, RECPACK_FAKE_CUDA_DRIVER);
  EXPECT_TRUE(copy.measured()) << copy.unavailable;
  EXPECT_GT(copy.per_second, 0);
  const Rate launch = LaunchCeiling(kThreeThreads, RECPACK_FAKE_CUDA_DRIVER);
  EXPECT_TRUE(launch.measured()) << launch.unavailable;
  EXPECT_GT(launch.per_second, 0);
}

TEST_F(CudaCeilings, CallsThatFailAreNamed) {
  for (const char* call : {"cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDevicePrimaryCtxRetain",
                           "cuCtxSetCurrent", "cuStreamCreate", "cuStreamSynchronize",
                           "cuMemHostAlloc", "cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2"}) {
    Say(std::string("1 ") + call);
    const std::string reason =
        PinnedCopyCeiling(kThreeThreads, RECPACK_FAKE_CUDA_DRIVER).unavailable;
    EXPECT_THAT(std::string(call), HasSubstr(reason.substr(0, reason.find(':'))));
    EXPECT_THAT(reason, HasSubstr("out of memory (CUDA error 2)"));
  }
  for (const char* call : {"cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel"}) {
    Say(std::string("1 ") + call);
    EXPECT_THAT(LaunchCeiling(kThreeThreads, RECPACK_FAKE_CUDA_DRIVER).unavailable,
                HasSubstr(call));
  }
}

}  // namespace
}  // namespace recpack::ceiling

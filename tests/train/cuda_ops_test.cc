#include "recpack/train/cuda_ops.h"

#include "recpack/base/error.h"
#include "src/train/cuda/libraries.h"
#include "tests/train/cuda_device.h"
#include "tests/train/ops_contract.h"

namespace recpack {
namespace {

std::function<std::unique_ptr<Ops>()> With(bool tf32) {
  return [tf32] { return CudaOpsIfThere({.tf32 = tf32}); };
}

std::vector<OpsCase> Cases() {
  return {{"f32_nhwc", With(false), ValueType::kF32, ImageLayout::kNhwc},
          {"f32_nchw", With(false), ValueType::kF32, ImageLayout::kNchw},
          {"tf32_nhwc", With(true), ValueType::kF32, ImageLayout::kNhwc, true},
          {"tf32_nchw", With(true), ValueType::kF32, ImageLayout::kNchw, true},
          {"bf16_nhwc", With(true), ValueType::kBf16, ImageLayout::kNhwc},
          {"bf16_nchw", With(true), ValueType::kBf16, ImageLayout::kNchw}};
}

INSTANTIATE_TEST_SUITE_P(Cuda, OpsContract, testing::ValuesIn(Cases()),
                         [](const auto& one) { return one.param.name; });

TEST(CudaDevices, ThatAreNotThereAreRefused) {
  for (const int device : {-1, 1000}) {
    try {
      MakeCudaOps({.device = device});
      FAIL() << "there is a device " << device;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kDevice);
    }
  }
}

// Needs no device: cuDNN and cuBLAS load without, where they are.
TEST(CudaLibraries, HaveTheFunctionsByTheirNames) {
  try {
    EXPECT_GE(LoadCudaLibraries().cudnn.GetVersion(), 90000u);
  } catch (const Error& error) {
    if (std::string(error.what()).find("cannot be loaded") == std::string::npos) throw;
    GTEST_SKIP() << error.what();
  }
}

// Two logical devices on one GPU.
TEST(CudaDevices, OfOneGpuHaveAStreamEach) {
  const auto one = CudaOpsIfThere({}), other = CudaOpsIfThere({});
  if (!one) GTEST_SKIP() << "no such device here";
  EXPECT_NE(one->Stream(), nullptr);
  EXPECT_NE(one->Stream(), other->Stream());
}

}  // namespace
}  // namespace recpack

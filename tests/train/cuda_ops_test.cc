#include "src/train/cuda/cuda_ops.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "recpack/base/error.h"
#include "src/train/cuda/runtime/libraries.h"
#include "tests/train/cuda_device.h"
#include "tests/train/ops_contract.h"
#include "tests/train/pooling_contract.h"
#include "tests/train/repetition_contract.h"

namespace recpack::train {
namespace {

std::function<std::unique_ptr<Ops>()> With(bool tf32) {
  return [tf32] { return CudaOpsIfThere({.tf32 = tf32}); };
}

std::vector<OpsCase> Cases() {
  return {{"f32_nhwc", With(false), ElementType::kF32, ImageLayout::kNhwc},
          {"f32_nchw", With(false), ElementType::kF32, ImageLayout::kNchw},
          {"tf32_nhwc", With(true), ElementType::kF32, ImageLayout::kNhwc, true},
          {"tf32_nchw", With(true), ElementType::kF32, ImageLayout::kNchw, true},
          {"bf16_nhwc", With(true), ElementType::kBf16, ImageLayout::kNhwc},
          {"bf16_nchw", With(true), ElementType::kBf16, ImageLayout::kNchw}};
}

INSTANTIATE_TEST_SUITE_P(Cuda, OpsContract, testing::ValuesIn(Cases()),
                         [](const auto& one) { return one.param.name; });

INSTANTIATE_TEST_SUITE_P(Cuda, RepetitionContract, testing::Values(With(false)));

TEST(CudaGraphs, OfWorkThatWaitsOrAllocatesAreRefusedAndLeaveTheDeviceAsItWas) {
  const auto ops = CudaOpsIfThere({});
  if (!ops) GTEST_SKIP() << "no such device here";
  ops->Attach();
  const DeviceArray one = ops->Allocate(1 << 20);
  const int64_t batch = 1 << 18;  // its per-sample losses exceed the workspace
  const DeviceArray numbers = ops->Allocate(batch * sizeof(float));
  std::vector<uint8_t> host(1 << 20, 7);
  const std::function<void()> refused[] = {
      [&] { ops->Download(host.data(), one.data(), host.size()); },
      [&] { ops->Upload(one.data(), host.data(), host.size()); }, [&] { ops->Synchronise(); },
      [&] { ops->Allocate(100); },
      [&] {
        ops->SquaredError({numbers.data(), ElementType::kF32, {batch}}, numbers.As<float>(),
                          nullptr, 1, nullptr, one.As<LossSums>());
      }};
  for (const auto& work : refused) {
    const auto with_more = [&] {
      ops->Zero(one.data(), 10);
      ops->Beside([&] { ops->Zero(one.data(), 10); });
      work();
    };
    try {
      ops->Capture(with_more);
      FAIL() << "was captured";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
      EXPECT_NE(std::string(error.what()).find("cannot be a CUDA graph"), std::string::npos)
          << error.what();
    }
    ops->Upload(one.data(), host.data(), host.size());
    with_more();
    ops->Rejoin();
    ops->Capture([&] { ops->Zero(one.data(), host.size()); })->Replay();
    std::vector<uint8_t> back(host.size(), 1);
    ops->Download(back.data(), one.data(), back.size());
    EXPECT_EQ(back, std::vector<uint8_t>(host.size(), 0));
    std::fill(host.begin(), host.end(), uint8_t{7});
  }
}

// Few bytes are passed as kernel arguments, more are copied.
TEST(CudaOps, UploadsAnyNumberOfBytes) {
  const auto ops = CudaOpsIfThere({});
  if (!ops) GTEST_SKIP() << "no such device here";
  ops->Attach();
  for (const size_t bytes : {0, 1, 64, 65, 200, 1024, 1025}) {
    const DeviceArray array = ops->Allocate(2048);
    std::vector<uint8_t> expected(2048), back(2048, 1);
    for (size_t i = 0; i < bytes; ++i) expected[i] = static_cast<uint8_t>(i * 7 + 1);
    ops->Upload(array.data(), expected.data(), bytes);
    ops->Download(back.data(), array.data(), back.size());
    EXPECT_EQ(back, expected) << bytes;
  }
}

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

// Needs no device: cuDNN and cuBLASLt load without one if they are installed.
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
}  // namespace recpack::train

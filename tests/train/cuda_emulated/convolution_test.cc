// Tests of convolutions without a cuDNN algorithm.
#include <gmock/gmock.h>

#include <functional>
#include <iterator>

#include "recpack/base/error.h"
#include "src/train/cuda/cuda_ops.h"
#include "tests/base/error_of.h"
#include "tests/train/cuda_emulated/emulated_machine.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

class EmulatedConvolution : public EmulatedMachine {};

// A first layer can be trained although its input gradient has no algorithm.
TEST_F(EmulatedConvolution, WithoutAWayIsRefusedOnceItIsUsed) {
  const auto ops = MakeCudaOps({});
  ops->Attach();
  // The emulated cuDNN needs one byte per result.
  const auto large = ops->MakeConvolution(
      {.batch = 1024, .in_channels = 1, .height = 32, .width = 32, .out_channels = 512});
  const std::function<void()> uses[] = {
      [&] { large->Forward(nullptr, nullptr); }, [&] { large->BackwardData(nullptr, nullptr); },
      [&] { large->BackwardWeights(nullptr, nullptr, nullptr, nullptr); }};
  const char* const names[] = {"Forward", "BackwardData", "BackwardFilter"};
  for (size_t i = 0; i < std::size(uses); ++i) {
    const Error error = ErrorOf(uses[i]);
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr(names[i]));
    EXPECT_THAT(error.what(), HasSubstr("512 MB of workspace, for 1024x1x32x32 by 512x1x1x1, f32"));
  }
}

}  // namespace
}  // namespace recpack::train

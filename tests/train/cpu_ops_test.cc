#include "src/train/cpu/cpu_ops.h"

#include <gmock/gmock.h>

#include <limits>

#include "recpack/base/error.h"
#include "tests/base/sanitizers.h"
#include "tests/train/ops_contract.h"
#include "tests/train/pooling_contract.h"
#include "tests/train/repetition_contract.h"

namespace recpack::train {
namespace {

std::vector<OpsCase> Cases() {
  const auto with = [](int threads) {
    return [threads] { return MakeCpuOps({.threads = threads}); };
  };
  return {{"f32_nhwc", with(2), ElementType::kF32, ImageLayout::kNhwc},
          {"f32_nchw", with(2), ElementType::kF32, ImageLayout::kNchw},
          {"f32_nhwc_alone", with(1), ElementType::kF32, ImageLayout::kNhwc},
          {"bf16_nhwc", with(2), ElementType::kBf16, ImageLayout::kNhwc},
          {"bf16_nchw", with(2), ElementType::kBf16, ImageLayout::kNchw}};
}

INSTANTIATE_TEST_SUITE_P(Cpu, OpsContract, testing::ValuesIn(Cases()),
                         [](const auto& one) { return one.param.name; });

INSTANTIATE_TEST_SUITE_P(Cpu, RepetitionContract,
                         testing::Values([] { return MakeCpuOps({.threads = 2}); }));

TEST(CpuOps, MemoryThatIsNotToBeHadIsAnErrorWithItsSize) {
  if (kAddressSanitizer) GTEST_SKIP() << "the sanitizer ends a program that asks for so much";
  const auto ops = MakeCpuOps({.threads = 1});
  for (const size_t bytes : {size_t{1} << 60, std::numeric_limits<size_t>::max()}) {
    try {
      ops->Allocate(bytes);
      FAIL() << bytes;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kDevice);
      EXPECT_THAT(error.what(), testing::HasSubstr(std::to_string(bytes)));
      EXPECT_THAT(error.what(), testing::HasSubstr("use a smaller --batch-size"));
    }
  }
}

}  // namespace
}  // namespace recpack::train

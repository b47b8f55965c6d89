#include "src/train/setup/memory_errors.h"

#include <gmock/gmock.h>

#include <limits>

#include "recpack/base/slab.h"
#include "src/train/cpu/cpu_ops.h"
#include "src/train/layers/layers.h"
#include "src/train/ops/memory_purpose.h"
#include "tests/base/error_of.h"
#include "tests/base/sanitizers.h"

namespace recpack::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr size_t kMuch = size_t{1} << 60;  // bytes, more than any machine has

class MemoryErrors : public testing::Test {
 protected:
  void SetUp() override {
    if (kAddressSanitizer || kThreadSanitizer) {
      GTEST_SKIP() << "the sanitizer ends a program that asks for so much";
    }
  }
};

std::string TextOf(const std::function<void()>& work) {
  return ErrorOf([&] { WithMemoryErrors([] { return "cpu:1"; }, 32, work); }).what();
}

TEST_F(MemoryErrors, SayWhatNumbersOfTheHostAreFor) {
  EXPECT_THAT(HostFloats(3, "a test"), testing::ElementsAre(0, 0, 0));
  EXPECT_THAT(TextOf([] { HostFloats(kMuch / sizeof(float), "the server's conv1.weight"); }),
              AllOf(StartsWith("the host has no memory for 1152921504606846976 more bytes, for the "
                               "server's conv1.weight, for batches of 32 samples on cpu:1; "),
                    HasSubstr("use a smaller --batch-size")));
  EXPECT_THAT(TextOf([] { HostFloats(std::numeric_limits<size_t>::max() / 8, "x"); }),
              HasSubstr(", for x, for batches"));
}

TEST_F(MemoryErrors, SayHowMuchASlabIs) {
  EXPECT_THAT(TextOf([] { HostSlabs().Allocate(kMuch); }),
              StartsWith("the host has no memory for 1152921504606846976 more bytes, for batches"));
  EXPECT_THROW(HostSlabs().Allocate(kMuch), std::bad_alloc) << "as Python wants it";
}

TEST_F(MemoryErrors, SayWhichActivationItIs) {
  const auto ops = MakeCpuOps({.threads = 1});
  Activations activations;
  EXPECT_THAT(
      TextOf([&] {
        activations.Allocate({.ops = ops.get()}, {1 << 20, 1 << 20, 1 << 18}, ElementType::kF32);
      }),
      AllOf(HasSubstr("the CPU has no memory for 1152921504606846976 more bytes, for an "
                      "activation "),
            HasSubstr(ShapeText({1 << 20, 1 << 20, 1 << 18}) + " f32, for batches of 32"),
            HasSubstr("use a smaller --batch-size")));
}

TEST_F(MemoryErrors, OfTheStandardLibraryAreToldAsWhatTheyAre) {
  EXPECT_THAT(TextOf([] { throw std::bad_alloc(); }),
              StartsWith("out of host memory (std::bad_alloc), for batches of 32"));
}

TEST_F(MemoryErrors, OtherErrorsStayWhatTheyAre) {
  EXPECT_THAT(TextOf([] { throw Error(ErrorKind::kIo, "the disk is full"); }),
              testing::StrEq("the disk is full"));
}

}  // namespace
}  // namespace recpack::train

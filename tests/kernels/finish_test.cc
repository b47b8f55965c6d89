#include "recpack/kernels/finish.h"

#include <gtest/gtest.h>

#include "kernels/finish.h"
#include "tests/kernels/finish_cases.h"
#include "tests/kernels/finish_paths.h"
#include "tests/kernels/naive_finish.h"

namespace recpack {
namespace {

// Runs `finish` into unaligned memory between two guards.
template <class Finish>
std::vector<uint8_t> Guarded(size_t size, const Finish& finish) {
  constexpr size_t kGuard = 65;
  std::vector<uint8_t> memory(size + 2 * kGuard, 0xa5);
  finish(memory.data() + kGuard);
  const auto untouched = [](uint8_t byte) { return byte == 0xa5; };
  EXPECT_TRUE(std::all_of(memory.begin(), memory.begin() + kGuard, untouched));
  EXPECT_TRUE(std::all_of(memory.end() - kGuard, memory.end(), untouched));
  return {memory.begin() + kGuard, memory.end() - kGuard};
}

void CheckFinisher(CpuLevel level, const FinishOptions& o, const FinishGeometry& g,
                   const std::vector<uint8_t>& image, const std::vector<uint8_t>& expected) {
  const Finisher finisher(o, level);
  ASSERT_EQ(finisher.out_bytes(), expected.size());
  const auto finish = [&](void* out) { finisher(image.data(), g, out); };
  ASSERT_EQ(Guarded(expected.size(), finish), expected) << Describe(o, g);
}

void CheckDefinition(const FinishOptions& o, const FinishGeometry& g,
                     const std::vector<uint8_t>& image, const std::vector<uint8_t>& expected) {
  std::vector<uint8_t> out(expected.size());
  for (int y = 0; y < o.out_height; ++y) {
    for (int x = 0; x < o.out_width; ++x) {
      for (int c = 0; c < o.channels; ++c) FinishElement(o, image.data(), g, c, y, x, out.data());
    }
  }
  ASSERT_EQ(out, expected) << Describe(o, g);
}

TEST(FinishElement, IsWhatItsDescriptionSays) {
  for (const ElementType type : kTypes) {
    const NaiveFinisher naive(OptionsOf(type));
    VisitOptions(type, 7, [&](const FinishOptions& o) {
      const std::vector<uint8_t> image = Noise(o);
      for (const FinishGeometry& place : Places(o)) {
        CheckDefinition(o, place, image, naive(o, image, place));
      }
      return !testing::Test::HasFailure();
    });
  }
}

class FinishPaths : public testing::TestWithParam<CpuLevel> {};

TEST_P(FinishPaths, EverySizeTypeLayoutAndPlace) {
  for (const ElementType type : kTypes) {
    const NaiveFinisher naive(OptionsOf(type));
    VisitOptions(type, 1, [&](const FinishOptions& o) {
      const std::vector<uint8_t> image = Noise(o);
      for (const FinishGeometry& place : Places(o)) {
        CheckFinisher(GetParam(), o, place, image, naive(o, image, place));
      }
      return !HasFailure();
    });
  }
}

TEST_P(FinishPaths, CropsOfCifar) {
  for (const ElementType type : kTypes) {
    FinishOptions o = OptionsOf(type);
    o.in_layout = ImageLayout::kNchw;
    o.in_height = o.in_width = o.out_height = o.out_width = 32;
    const NaiveFinisher naive(o);
    const std::vector<uint8_t> image = Noise(o);
    for (int place = 0; place < 2 * 81; ++place) {
      const FinishGeometry g = {place % 9 - 4, place / 9 % 9 - 4, place >= 81};
      CheckFinisher(GetParam(), o, g, image, naive(o, image, g));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FinishPaths, testing::ValuesIn(FinishLevels()), LevelName);

}  // namespace
}  // namespace recpack

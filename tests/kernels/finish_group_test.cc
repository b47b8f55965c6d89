// Tests of the device code on the host, which runs all threads of a batch one after another.
#include "kernels/cuda/finish_group.h"

#include <gtest/gtest.h>

#include "tests/kernels/finish_cases.h"

namespace recpack {
namespace {

TEST(FastDivide, IsExact) {
  constexpr uint32_t kMax = 0x7fffffff;
  for (const uint32_t divisor : {1u, 2u, 3u, 5u, 7u, 32u, 48u, 224u, 641u, 65535u, 65536u, 65537u,
                                 0x3fffffffu, 0x40000000u, 0x40000001u, kMax}) {
    const FastDivide divide(divisor);
    for (uint32_t i = 0; i < 1000; ++i) {
      // Dividends around multiples of the divisor, at both ends and between.
      const uint32_t multiple = kMax / divisor / 999 * i * divisor;
      for (const uint32_t near : {multiple - 1, multiple, multiple + 1, i, kMax - i}) {
        if (near > kMax) continue;
        ASSERT_EQ(divide(near), near / divisor) << near << " / " << divisor;
      }
    }
  }
}

template <ElementType kType>
void RunThreads(const FinishGrid& grid, const uint8_t* image, const FinishGeometry& g, void* out) {
  for (uint32_t group = 0; group < grid.groups; ++group) {
    if (grid.group == 1) {
      FinishGroup<kType, 1>(grid, image, g, group, out);
    } else {
      FinishGroup<kType, kFinishGroup>(grid, image, g, group, out);
    }
  }
}

void RunThreads(const FinishGrid& grid, const uint8_t* image, const FinishGeometry& g, void* out) {
  switch (grid.options.type) {
    case ElementType::kU8:
      return RunThreads<ElementType::kU8>(grid, image, g, out);
    case ElementType::kF16:
      return RunThreads<ElementType::kF16>(grid, image, g, out);
    case ElementType::kBf16:
      return RunThreads<ElementType::kBf16>(grid, image, g, out);
    default:
      return RunThreads<ElementType::kF32>(grid, image, g, out);
  }
}

// `alignment`: alignment of the result, in elements.
void ExpectAsFinisher(ElementType type, size_t alignment) {
  int grouped = 0;
  VisitOptions(type, 1, [&](const FinishOptions& o) {
    const Finisher finisher(o);
    const FinishGrid grid = MakeGrid(o, alignment * ElementBytes(type));
    grouped += grid.group > 1;
    const std::vector<uint8_t> image = Noise(o);
    for (const FinishGeometry& place : Places(o)) {
      std::vector<uint8_t> out(finisher.out_bytes()), expected(finisher.out_bytes());
      finisher(image.data(), place, expected.data());
      RunThreads(grid, image.data(), place, out.data());
      EXPECT_EQ(out, expected) << Describe(o, place) << ", groups of " << grid.group;
      if (testing::Test::HasFailure()) return false;
    }
    return true;
  });
  EXPECT_EQ(grouped > 0, alignment >= kFinishGroup);
}

TEST(FinishGroup, GroupsOfFourAsTheHost) {
  for (const ElementType type : kTypes) ExpectAsFinisher(type, 4);
}

TEST(FinishGroup, SingleElementsAsTheHost) {
  for (const ElementType type : kTypes) ExpectAsFinisher(type, 1);
}

}  // namespace
}  // namespace recpack

// Tests of values on which roundings differ: ties, underflow, overflow, fused products.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/finish.h"
#include "recpack/base/random.h"
#include "tests/kernels/finish_paths.h"
#include "tests/kernels/naive_finish.h"

namespace recpack {
namespace {

float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void ExpectNearest(float value) {
  if (std::isnan(value) || std::isinf(value)) return;
  EXPECT_EQ(ToF16(value), NaiveF16(value)) << std::hexfloat << value;
  EXPECT_EQ(ToBf16(value), NaiveBf16(value)) << std::hexfloat << value;
}

TEST(FinishRounding, KnownValues) {
  EXPECT_EQ(ToF16(0), 0);
  EXPECT_EQ(ToF16(-0.0F), 0x8000);
  EXPECT_EQ(ToF16(1), 0x3c00);
  EXPECT_EQ(ToF16(-2), 0xc000);
  EXPECT_EQ(ToF16(65504), 0x7bff);
  EXPECT_EQ(ToF16(65519.996F), 0x7bff);
  EXPECT_EQ(ToF16(65520), 0x7c00);
  EXPECT_EQ(ToF16(-1e9F), 0xfc00);
  EXPECT_EQ(ToF16(0x1p-24F), 1);
  EXPECT_EQ(ToF16(0x1p-25F), 0);  // halfway to the smallest: ties to even
  EXPECT_EQ(ToF16(0x1.8p-24F), 2);
  EXPECT_EQ(ToF16(0x1p-14F), 0x0400);
  EXPECT_EQ(ToF16(1 + 0x1p-11F), 0x3c00);
  EXPECT_EQ(ToF16(1 + 0x1.8p-10F), 0x3c02);
  EXPECT_EQ(ToBf16(1), 0x3f80);
  EXPECT_EQ(ToBf16(1 + 0x1p-8F), 0x3f80);
  EXPECT_EQ(ToBf16(1 + 0x1.8p-7F), 0x3f82);
  EXPECT_EQ(ToBf16(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(FinishRounding, AroundEveryTie) {
  // Every upper half of an f32, with the lower halves at which f16 and bf16 change.
  for (uint32_t high = 0; high < 0x10000; high += 3) {
    for (const uint32_t low :
         {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x3000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      ExpectNearest(FromBits(high << 16 | low));
      if (HasFailure()) return;
    }
  }
}

class RoundingPaths : public testing::TestWithParam<CpuLevel> {
 protected:
  // Finishes all u8 values through the path and one by one, with one channel's factors.
  static void ExpectEqual(float scale, float bias) {
    std::vector<uint8_t> image(256);
    for (size_t i = 0; i < 256; ++i) image[i] = static_cast<uint8_t>(i);
    for (const ElementType type : {ElementType::kF16, ElementType::kBf16, ElementType::kF32}) {
      FinishOptions o{
          .in_height = 1, .in_width = 256, .channels = 1, .out_height = 1, .out_width = 256};
      o.scale[0] = scale;
      o.bias[0] = bias;
      o.type = type;
      std::vector<uint8_t> out(256 * ElementBytes(type)), expected;
      Finisher(o, GetParam())(image.data(), {}, out.data());
      for (const uint8_t value : image) {
        const auto element = NaiveElement(o, value, 0);
        expected.insert(expected.end(), element.begin(), element.end());
      }
      ASSERT_EQ(out, expected) << ElementName(type) << std::hexfloat << " " << scale << " " << bias;
    }
  }
};

TEST_P(RoundingPaths, TiesSmallAndLargeValues) {
  ExpectEqual(0x1p-25F, 0);  // below the smallest f16, every second value a tie
  ExpectEqual(0x1p-11F, 1);  // ties of f16
  ExpectEqual(0x1p-8F, -1);  // ties of bf16
  ExpectEqual(300, 0);       // too large for f16
  ExpectEqual(-257, 0x1p-20F);
  ExpectEqual(0x1p-140F, 0);        // too small for a normal f32
  ExpectEqual(0x1.fffffep119F, 0);  // the largest, and infinity in bf16
  ExpectEqual(1, 0);
  ExpectEqual(0, -0.0F);
}

TEST_P(RoundingPaths, RandomFactors) {
  KeyedRandom random(11, 0, 0);
  for (int i = 0; i < 300 && !HasFatalFailure(); ++i) {
    const double scale = std::exp2(24 * random.NextUnit() - 16) * (random.NextBelow(2) ? 1 : -1);
    const double bias = 255 * scale * (random.NextUnit() - 0.5);
    ExpectEqual(static_cast<float>(scale), static_cast<float>(bias));
  }
}

TEST_P(RoundingPaths, ProductAndSumRoundApart) {
  const float scale = 0.017124753F, bias = -2.1179039F;
  int fused_differ = 0;
  for (int i = 0; i < 256; ++i) {
    const auto value = static_cast<uint8_t>(i);
    fused_differ += std::fma(static_cast<float>(i), scale, bias) != Normalise(value, scale, bias);
  }
  EXPECT_GT(fused_differ, 0) << "these factors cannot tell a fused product from two roundings";
  ExpectEqual(scale, bias);
}

INSTANTIATE_TEST_SUITE_P(All, RoundingPaths, testing::ValuesIn(FinishLevels()), LevelName);

}  // namespace
}  // namespace recpack

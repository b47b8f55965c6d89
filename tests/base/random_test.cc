#include "recpack/base/random.h"

#include <gtest/gtest.h>

#include <vector>

namespace recpack {
namespace {

using Block = std::array<uint32_t, 4>;

// Known answers of the authors' library (Random123, kat_vectors, philox4x32 10).
TEST(RandomTest, PhiloxGivesTheKnownAnswers) {
  EXPECT_EQ(Philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t f = 0xffffffff;
  EXPECT_EQ(Philox({f, f, f, f}, {f, f}), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomTest, StreamsAreAFunctionOfTheirKey) {
  KeyedRandom a(1, 2, 3), b(1, 2, 3), c(1, 2, 4);
  bool differs = false;
  for (int i = 0; i < 9; ++i) {
    const uint64_t x = a.NextU64();
    EXPECT_EQ(x, b.NextU64());
    differs |= x != c.NextU64();
  }
  EXPECT_TRUE(differs);
}

TEST(RandomTest, NumbersBelowABoundAreEven) {
  KeyedRandom random(7, 0, 0);
  std::vector<int> counts(6);
  for (int i = 0; i < 60000; ++i) ++counts[random.NextBelow(6)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
  for (int i = 0; i < 1000; ++i) {
    const float unit = random.NextUnit();
    EXPECT_TRUE(unit >= 0 && unit < 1);
  }
}

}  // namespace
}  // namespace recpack

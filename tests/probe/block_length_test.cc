#include "src/probe/util/block_length.h"

#include <gtest/gtest.h>

#include <random>

namespace recpack::probe {
namespace {

// Autoregressive series: each value depends on the previous one by `factor`.
std::vector<double> Series(double factor, size_t count, uint32_t seed = 3) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise;
  std::vector<double> series;
  double value = 0;
  for (size_t i = 0; i < count; ++i) {
    value = factor * value + noise(random);
    series.push_back(value);
  }
  return series;
}

TEST(BlockLength, GrowsWithTheDependenceOfNeighbours) {
  const size_t none = ChooseBlocks(Series(0, 1000)).length,
               some = ChooseBlocks(Series(0.6, 1000)).length,
               much = ChooseBlocks(Series(0.95, 1000)).length;
  EXPECT_LE(none, 12u);
  EXPECT_LT(none, some);
  EXPECT_LT(some, much);
}

// 2 G^2 / D of an autoregression, with its known autocovariance (Politis and White 2004): for 0.7
// and 10,000 values (2 (2 * 0.7 / (1 - 0.49))^2 / (4/3) * 10000)^(1/3) = 48.3.
TEST(BlockLength, IsThatOfTheFormula) {
  double sum = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    sum += static_cast<double>(ChooseBlocks(Series(0.7, 10'000, seed)).length);
  }
  EXPECT_NEAR(sum / 20, 48.3, 8);
}

// 1 for independent values; for factor 0.7: 1 - 2 * 0.7 / (1 - 0.49) / 48.
TEST(BlockLength, KnowsWhatItsBlocksDoNotSee) {
  EXPECT_GT(ChooseBlocks(Series(0, 1000)).seen, 0.9);
  EXPECT_NEAR(ChooseBlocks(Series(0.7, 10'000)).seen, 0.943, 0.03);
}

TEST(BlockLength, LeavesAtLeastThreeBlocks) {
  for (const size_t count : {3u, 10u, 40u, 300u}) {
    EXPECT_LE(ChooseBlocks(Series(0.999, count)).length * 3, count + 3) << count;
  }
}

TEST(BlockLength, OfValuesThatAreEqualOrFew) {
  EXPECT_EQ(ChooseBlocks({}).length, 1u);
  EXPECT_EQ(ChooseBlocks({1, 2}).length, 1u);
  EXPECT_EQ(ChooseBlocks(std::vector<double>(1000, 4.0)).length, 10u);
}

}  // namespace
}  // namespace recpack::probe

#include "recpack/probe/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace recpack {
namespace {

TEST(Estimate, IsOfSumsAndNotOfMeans) {
  const Estimate share = ShareOf({{0, 1}, {30, 99}});
  EXPECT_DOUBLE_EQ(share.value, 0.3);
}

TEST(Estimate, OfNothingIsNothing) {
  const Estimate none = ShareOf({});
  EXPECT_EQ(none.value, 0);
  EXPECT_EQ(none.high, 0);
}

TEST(Estimate, EqualStepsLeaveNoDoubt) {
  const Estimate share = ShareOf(std::vector<Part>(100, {25, 100}));
  EXPECT_DOUBLE_EQ(share.low, 0.25);
  EXPECT_DOUBLE_EQ(share.high, 0.25);
}

// Steps whose waits come in bursts, as those for a prefetched ring do: the interval must hold the
// truth about as often as it says.
TEST(Estimate, HoldsTheTruthAsOftenAsItSays) {
  constexpr int kRuns = 400, kSteps = 400;
  constexpr double kTruth =
      0.1;  // of steps 100 long, a tenth of which waits 100 of them on average
  int held = 0;
  std::mt19937 random(11);
  std::exponential_distribution<double> wait(1 / (100 * kTruth / (1 - kTruth)));
  for (int run = 0; run < kRuns; ++run) {
    std::vector<Part> series;
    double level = wait(random);
    for (int i = 0; i < kSteps; ++i) {
      if (random() % 4 == 0) level = wait(random);  // neighbours are alike
      series.push_back({level, 100 + level});
    }
    const Estimate share = ShareOf(series);
    held += share.low <= kTruth && kTruth <= share.high ? 1 : 0;
  }
  EXPECT_GE(held, kRuns * 90 / 100);
  EXPECT_LE(held, kRuns * 99 / 100);
}

}  // namespace
}  // namespace recpack

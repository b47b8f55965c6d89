#include "src/probe/util/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace recpack::probe {
namespace {

TEST(Estimate, IsOfSumsAndNotOfMeans) {
  const Estimate share = EstimateShare({{0, 1}, {30, 99}});
  EXPECT_DOUBLE_EQ(share.value, 0.3);
}

TEST(Estimate, OfNothingIsNothing) {
  const Estimate none = EstimateShare({});
  EXPECT_EQ(none.value, 0);
  EXPECT_EQ(none.high, 0);
}

TEST(Estimate, EqualStepsLeaveNoDoubt) {
  const Estimate share = EstimateShare(std::vector<Part>(100, {25, 100}));
  EXPECT_DOUBLE_EQ(share.low, 0.25);
  EXPECT_DOUBLE_EQ(share.high, 0.25);
}

TEST(Estimate, OneStepIsNoneToDoubtBy) {
  const Estimate share = EstimateShare({{1, 4}});
  EXPECT_DOUBLE_EQ(share.low, 0.25);
  EXPECT_DOUBLE_EQ(share.high, 0.25);
}

TEST(Estimate, StaysAShare) {
  std::vector<Part> series(40, {0, 100});
  series[7] = {100, 100};
  const Estimate rare = EstimateShare(series);
  EXPECT_GE(rare.low, 0);
  for (Part& part : series) part.part = part.whole - part.part;
  const Estimate often = EstimateShare(series);
  EXPECT_LE(often.high, 1);
}

// Long series are grouped: the value is still that of all parts.
TEST(Estimate, OfALongSeriesNothingIsLeftOut) {
  std::vector<Part> series;
  double part = 0, whole = 0;
  std::mt19937 random(5);
  for (int i = 0; i < 10'007; ++i) {
    series.push_back({static_cast<double>(random() % 50), static_cast<double>(50 + random() % 50)});
    part += series.back().part;
    whole += series.back().whole;
  }
  const Estimate share = EstimateShare(series);
  EXPECT_NEAR(share.value, part / whole, 1e-12);
  EXPECT_NEAR(share.high - share.low, 2 * 1.96 * 0.2 / std::sqrt(10'007), 0.005);
}

}  // namespace
}  // namespace recpack::probe

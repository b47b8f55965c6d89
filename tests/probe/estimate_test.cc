#include "src/probe/util/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace recpack::probe {
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

TEST(Estimate, OneStepIsNoneToDoubtBy) {
  const Estimate share = ShareOf({{1, 4}});
  EXPECT_DOUBLE_EQ(share.low, 0.25);
  EXPECT_DOUBLE_EQ(share.high, 0.25);
}

TEST(Estimate, StaysAShare) {
  std::vector<Part> series(40, {0, 100});
  series[7] = {100, 100};
  const Estimate rare = ShareOf(series);
  EXPECT_GE(rare.low, 0);
  for (Part& part : series) part.part = part.whole - part.part;
  const Estimate often = ShareOf(series);
  EXPECT_LE(often.high, 1);
}

// Neighbours are drawn as one where there are many: the figure is that of all.
TEST(Estimate, OfALongSeriesNothingIsLeftOut) {
  std::vector<Part> series;
  double part = 0, whole = 0;
  std::mt19937 random(5);
  for (int i = 0; i < 10'007; ++i) {
    series.push_back({static_cast<double>(random() % 50), static_cast<double>(50 + random() % 50)});
    part += series.back().part;
    whole += series.back().whole;
  }
  const Estimate share = ShareOf(series);
  EXPECT_NEAR(share.value, part / whole, 1e-12);
  EXPECT_NEAR(share.high - share.low, 2 * 1.96 * 0.2 / std::sqrt(10'007), 0.005);
}

}  // namespace
}  // namespace recpack::probe

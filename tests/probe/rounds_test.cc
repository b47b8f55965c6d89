#include "src/probe/gain/rounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace recpack::probe {
namespace {

// From seconds per step: how many more steps per second the second kind makes.
double Gain(const std::vector<double>& means) { return 1 / means[1] - 1 / means[0]; }

TEST(Rounds, FiguresAreOfTheMeans) {
  const Estimate gain = EstimateFigure({{0.1, 0.04}, {0.3, 0.06}, {0.2, 0.05}}, Gain);
  EXPECT_DOUBLE_EQ(gain.value, 1 / 0.05 - 1 / 0.2);
  EXPECT_LT(gain.low, gain.value);
  EXPECT_GT(gain.high, gain.value);
}

TEST(Rounds, EqualRoundsLeaveNoDoubt) {
  const Estimate gain = EstimateFigure(Rounds(5, {0.2, 0.1}), Gain);
  EXPECT_NEAR(gain.low, 5, 1e-9);
  EXPECT_NEAR(gain.high, 5, 1e-9);
}

TEST(Rounds, TwoRoundsSayTooLittleOfTheError) {
  const Estimate gain = EstimateFigure({{0.2, 0.1}, {0.2, 0.1}}, Gain);
  EXPECT_DOUBLE_EQ(gain.value, 5);
  EXPECT_TRUE(std::isinf(gain.low) && gain.low < 0);
  EXPECT_TRUE(std::isinf(gain.high) && gain.high > 0);
}

// Changes that affect all kinds of a round, for instance a slower machine, do not widen the
// interval.
TEST(Rounds, WhatAllKindsShareCancels) {
  Rounds rounds;
  for (const double slower : {1.0, 1.5, 0.8, 1.2}) rounds.push_back({0.2 * slower, 0.1 * slower});
  const Estimate ratio =
      EstimateFigure(rounds, [](const auto& means) { return means[0] / means[1]; });
  EXPECT_NEAR(ratio.low, 2, 1e-6);
  EXPECT_NEAR(ratio.high, 2, 1e-6);
}

// Counts how many of 500 intervals contain the true value. `memory`: correlation of a round with
// the previous one.
double Held(size_t count, double memory) {
  constexpr int kRuns = 500;
  const double truth = 1 / 0.1 - 1 / 0.2;
  int held = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::mt19937 random(static_cast<uint32_t>(run));
    std::normal_distribution<double> noise;
    double before = noise(random);
    Rounds rounds;
    for (size_t i = 0; i < count; ++i) {
      before = memory * before + std::sqrt(1 - memory * memory) * noise(random);
      rounds.push_back({0.2 + 0.01 * before, 0.1 + 0.002 * noise(random)});
    }
    const Estimate gain = EstimateFigure(rounds, Gain);
    held += gain.low <= truth && truth <= gain.high ? 1 : 0;
  }
  return held / double{kRuns};
}

TEST(Rounds, TheIntervalHoldsTheTruthAsOftenAsItSays) {
  for (const size_t count : {4, 6, 10, 40}) {
    EXPECT_GE(Held(count, 0), 0.91) << count;
    EXPECT_LE(Held(count, 0), 0.99) << count;
  }
}

TEST(Rounds, AlsoWhereRoundsDependOnEachOther) { EXPECT_GE(Held(40, 0.3), 0.90); }

}  // namespace
}  // namespace recpack::probe

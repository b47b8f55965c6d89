#include "src/probe/steps/period.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "src/probe/steps/activity.h"

namespace recpack::probe {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kMs = 1'000'000;

// Steps with much work, less work, then none. Step lengths jitter.
std::vector<float> Steps(size_t values, double period, double jitter, double noise) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<float> signal;
  double begin = 0, length = period;
  for (size_t i = 0; i < values; ++i) {
    while (static_cast<double>(i) >= begin + length) {
      begin += length;
      length = period * (1 + jitter * normal(random));
    }
    const double at = (static_cast<double>(i) - begin) / length;
    const double work = at < 0.4 ? 1 : at < 0.7 ? 0.5 : 0;
    signal.push_back(static_cast<float>(work + noise * normal(random)));
  }
  return signal;
}

TEST(FindPeriod, OfStepsThatRepeat) {
  for (const double period : {9.0, 25.3, 160.0}) {
    const auto found = FindPeriod(Steps(4000, period, 0.01, 0.2), 0.1);
    ASSERT_TRUE(found) << period;
    EXPECT_NEAR(found->seconds, 0.1 * period, 0.1 * period * 0.02);
    EXPECT_LE(std::abs(found->seconds - 0.1 * period), 4 * found->error);
    EXPECT_LT(found->error, 0.02 * found->seconds);
  }
}

// Layers of a model look alike: only the whole step is periodic.
TEST(FindPeriod, TheWholeStepIsTheOneThatRepeatsBest) {
  std::vector<float> signal;
  for (int i = 0; i < 3000; ++i) {
    const int at = i % 60;
    signal.push_back(at >= 50      ? 0.0f
                     : at % 10 < 5 ? 1.0f + 0.1f * static_cast<float>(at / 10)
                                   : 0.3f);
  }
  const auto found = FindPeriod(signal, 1);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->seconds, 60, 0.5);
}

TEST(FindPeriod, WhatDoesNotRepeatHasNone) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (int tries = 0; tries < 50; ++tries) {
    std::vector<float> noise, walk;
    for (int i = 0; i < 500; ++i) {
      noise.push_back(normal(random));
      walk.push_back((walk.empty() ? 0 : 0.98f * walk.back()) + normal(random));
    }
    EXPECT_FALSE(FindPeriod(noise, 1)) << tries;
    EXPECT_FALSE(FindPeriod(walk, 1)) << tries;
  }
}

TEST(FindPeriod, ASignalThatIsConstantTooShortOrATrendHasNone) {
  std::vector<float> trend(500);
  for (size_t i = 0; i < trend.size(); ++i) trend[i] = static_cast<float>(i);
  EXPECT_FALSE(FindPeriod(trend, 1));
  EXPECT_FALSE(FindPeriod(std::vector<float>(500, 1.0f), 1));
  EXPECT_FALSE(FindPeriod(Steps(40, 5, 0, 0), 1));
  EXPECT_FALSE(FindPeriod({}, 1));
  EXPECT_FALSE(FindPeriod(Steps(500, 150, 0, 0), 1)) << "three periods";
}

// Kernels of steps of 100 ms: a burst of ten, ten more, and a pause.
std::vector<TimedEvent> Kernels(int steps) {
  std::mt19937 random(5);
  std::uniform_int_distribution<int64_t> jitter(-kMs, kMs);
  std::vector<TimedEvent> events;
  for (int step = 0; step < steps; ++step) {
    for (int64_t kernel = 0; kernel < 20; ++kernel) {
      const int64_t at =
          5000 * kMs + step * 100 * kMs + kernel * (kernel < 10 ? 2 : 4) * kMs + jitter(random);
      events.push_back({.event = {.kind = EventKind::kDevice,
                                  .device = 0,
                                  .lane = 7,
                                  .begin = at,
                                  .end = at + kMs / 2},
                        .process = 9,
                        .name = "kernel"});
    }
  }
  return events;
}

TEST(Activity, ThePeriodOfKernelStarts) {
  Activity activity;
  activity.Add(Kernels(60));
  const auto periods = activity.Periods();
  ASSERT_THAT(periods, SizeIs(1));
  EXPECT_NEAR(periods[0].seconds, 0.1, 0.002);
  EXPECT_THAT(periods[0].of, HasSubstr("device 0 of process 9"));
}

TEST(Activity, AFewKernelsHaveNone) {
  Activity activity;
  activity.Add(Kernels(3));
  EXPECT_THAT(activity.Periods(), IsEmpty());
}

}  // namespace
}  // namespace recpack::probe

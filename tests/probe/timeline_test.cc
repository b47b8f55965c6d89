#include "src/probe/report/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probe/second.h"

namespace recpack::probe {
namespace {

using testing::ElementsAre;
using testing::Optional;

TimelineValue Cpu(double value) { return {"cpu", "", "used", "cores", value}; }
TimelineValue Core(int core, double value) {
  return {"cores", "core " + std::to_string(core), "busy", "share", value};
}

TEST(Timeline, KeepsWhatFits) {
  TimelineRecorder recorder(4);
  recorder.Add(0, kSecond, {Cpu(1), Core(0, 0.5)});
  recorder.Add(kSecond, 3 * kSecond, {Cpu(2), Core(0, 0.25)});
  const Timeline timeline = recorder.Collected();
  EXPECT_THAT(timeline.begin, ElementsAre(0, kSecond));
  EXPECT_THAT(timeline.end, ElementsAre(kSecond, 3 * kSecond));
  ASSERT_EQ(timeline.series.size(), 2u);
  EXPECT_EQ(timeline.series[1].of, "core 0");
  EXPECT_THAT(timeline.series[1].values, ElementsAre(Optional(0.5), Optional(0.25)));
}

TEST(Timeline, ALongOneIsMeansOverTimeAndLosesNothing) {
  TimelineRecorder recorder(8);
  double integral = 0;
  int64_t at = 0;
  for (int i = 0; i < 1000; ++i) {
    const int64_t length = (1 + i % 3) * kSecond;
    recorder.Add(at, at + length, {Cpu(i)});
    integral += i * static_cast<double>(length);
    at += length;
  }
  const Timeline timeline = recorder.Collected();
  EXPECT_LE(timeline.begin.size(), 8u);
  EXPECT_GT(timeline.begin.size(), 3u);
  double sum = 0;
  for (size_t i = 0; i < timeline.begin.size(); ++i) {
    sum += *timeline.series[0].values[i] * static_cast<double>(timeline.end[i] - timeline.begin[i]);
    if (i > 0) {
      EXPECT_EQ(timeline.begin[i], timeline.end[i - 1]);
    }
  }
  EXPECT_EQ(timeline.end.back(), at);
  EXPECT_NEAR(sum / integral, 1, 1e-9);
}

TEST(Timeline, WhatWasNotSeenIsMissingAndNotZero) {
  TimelineRecorder recorder(4);
  recorder.Add(0, kSecond, {Cpu(1)});
  recorder.Add(kSecond, 2 * kSecond, {Cpu(1), Core(1, 0.5)});
  recorder.Add(2 * kSecond, 3 * kSecond, {Core(1, 0.5)});
  const Timeline timeline = recorder.Collected();
  EXPECT_THAT(timeline.series[0].values, ElementsAre(Optional(1.0), Optional(1.0), std::nullopt));
  EXPECT_THAT(timeline.series[1].values, ElementsAre(std::nullopt, Optional(0.5), Optional(0.5)));
}

TEST(Timeline, AStretchThatSawAFigureHalfOfTheTimeHasTheMeanOfThatHalf) {
  TimelineRecorder recorder(2);
  recorder.Add(0, kSecond, {Cpu(4)});
  recorder.Add(kSecond, 2 * kSecond, {});
  recorder.Add(2 * kSecond, 3 * kSecond, {Cpu(1)});
  EXPECT_THAT(recorder.Collected().series[0].values, ElementsAre(Optional(4.0), Optional(1.0)));
}

TEST(Timeline, NoTimeIsNoStretch) {
  TimelineRecorder recorder;
  recorder.Add(5, 5, {Cpu(1)});
  recorder.Add(5, 4, {Cpu(1)});
  EXPECT_TRUE(recorder.Collected().begin.empty());
}

TEST(Timeline, SeriesAreBoundedAndThoseLeftOutAreCounted) {
  TimelineRecorder recorder(4, 2);
  recorder.Add(0, kSecond, {Core(0, 1), Core(1, 1), Core(2, 1)});
  EXPECT_EQ(recorder.Collected().series.size(), 2u);
  EXPECT_EQ(recorder.left_out(), 1u);
}

}  // namespace
}  // namespace recpack::probe

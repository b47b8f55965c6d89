#include "src/probe/steps/marked_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/probe/events/hook_ranges.h"
#include "src/probe/steps/steps.h"

namespace recpack::probe {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TimedEvent Range(const std::string& name, int64_t begin, int64_t end, uint32_t lane = 5) {
  return {.event = {.kind = EventKind::kRange, .lane = lane, .begin = begin, .end = end},
          .process = 77,
          .name = name};
}

// Twenty steps of 100 with nested ranges, in two epochs; each step is followed by a pause of 20.
std::vector<TimedEvent> MarkedTraining(const std::string& step) {
  std::vector<TimedEvent> events;
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t begin = 120 * i;
    events.push_back(Range(step + std::to_string(i), begin, begin + 100));
    events.push_back(Range("forward", begin, begin + 40));
    events.push_back(Range("backward", begin + 40, begin + 90));
  }
  for (int64_t i = 0; i < 2; ++i) events.push_back(Range("loop", 1200 * i, 1200 * (i + 1)));
  return events;
}

TEST(MarkedSteps, AreTheRepeatedRangeThatTakesMost) {
  const auto steps = MarkedSteps(MarkedTraining("pass "));
  ASSERT_THAT(steps, SizeIs(1));
  const auto& [at, ranges] = *steps.begin();
  EXPECT_EQ(at, (std::pair{77, 5u}));
  ASSERT_THAT(ranges, SizeIs(20));
  EXPECT_EQ(ranges[3].begin, 360);
  EXPECT_EQ(ranges[3].end, 480) << "the pause belongs to the step";
  EXPECT_EQ(ranges[3].value, 3u);
  EXPECT_EQ(ranges[19].end, 2380);
}

TEST(MarkedSteps, AreThoseThatSoundLikeStepsBeforeLongerOnes) {
  auto events = MarkedTraining("train:Step ");
  for (int64_t i = 0; i < 10; ++i) events.push_back(Range("phase", 240 * i, 240 * i + 239));
  ASSERT_THAT(MarkedSteps(events), SizeIs(1));
  EXPECT_THAT(MarkedSteps(events).begin()->second, SizeIs(20));
}

TEST(MarkedSteps, AreNoEpochsNoRareOnesAndNoneWithinEachOther) {
  std::vector<TimedEvent> events;
  for (int64_t i = 0; i < 30; ++i) {
    events.push_back(Range("epoch " + std::to_string(i), 100 * i, 100 * i + 90));
    events.push_back(Range("nested", 0, 3000 - i));
    if (i < 9) events.push_back(Range("rare", 100 * i, 100 * i + 90));
    events.push_back(Range(kFetchedAhead, 100 * i, 100 * i + 99));
    events.push_back(Range(kInterpreterLock, 100 * i, 100 * i + 99));
  }
  EXPECT_THAT(MarkedSteps(events), IsEmpty());
}

TEST(MarkedSteps, MakeATrainerWhoseInputWaitsAreNotKnown) {
  auto events = MarkedTraining("step ");
  for (int64_t i = 0; i < 20; ++i) {
    events.push_back({.event = {.kind = EventKind::kDevice,
                                .device = 0,
                                .lane = 900,
                                .begin = 120 * i + 10,
                                .end = 120 * i + 70},
                      .process = 77,
                      .name = {}});
  }
  const auto trainers = FindSteps(events, 5000);
  ASSERT_THAT(trainers, SizeIs(1));
  EXPECT_EQ(trainers[0].source, TrainerSteps::Source::kMarked);
  EXPECT_FALSE(trainers[0].waits_seen);
  ASSERT_THAT(trainers[0].steps, SizeIs(20));
  EXPECT_EQ(trainers[0].steps[1].device, 60);
}

TEST(MarkedSteps, KnowInputWaitsWhereTheirThreadAskedForBatches) {
  const auto seen = [](uint32_t lane, const char* name, int64_t waits) {
    auto events = MarkedTraining("step ");
    for (int64_t i = 0; i < waits; ++i) {
      events.push_back({.event = {.kind = EventKind::kInputWait,
                                  .lane = lane,
                                  .begin = 120 * i + 80,
                                  .end = 120 * i + 90},
                        .process = 77,
                        .name = name});
    }
    return FindSteps(events, 5000).at(0).waits_seen;
  };
  const uint32_t trains = MarkedTraining("step ").at(0).event.lane;
  EXPECT_TRUE(seen(trains, "DataLoader", 20));
  EXPECT_FALSE(seen(trains, "evaluation", 20));
  EXPECT_FALSE(seen(trains + 1, "DataLoader", 20)) << "who knows how that one hands them over";
  EXPECT_FALSE(seen(trains, "DataLoader", 0));
}

TEST(MarkedSteps, GiveWayToStepsThatAreTold) {
  auto events = MarkedTraining("step ");
  TimedEvent told = Range("", 0, 1000);
  told.event.kind = EventKind::kStep;
  events.push_back(told);
  const auto trainers = FindSteps(events, 5000);
  ASSERT_THAT(trainers, SizeIs(1));
  EXPECT_THAT(trainers[0].steps, SizeIs(1));
  EXPECT_TRUE(trainers[0].waits_seen);
}

}  // namespace
}  // namespace recpack::probe

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "src/probe/steps/step_collector.h"
#include "tests/probe/second.h"

namespace recpack::probe {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr int kProcess = 77;
constexpr uint32_t kTrainer = 5;

TimedEvent StepEvent(EventKind kind, int64_t begin, int64_t end, uint32_t lane = kTrainer,
                     uint16_t device = 0) {
  return {.event = {.kind = kind, .device = device, .lane = lane, .begin = begin, .end = end},
          .process = kProcess};
}

// Two steps of 100 that wait for 30 and then compute for 60.
std::vector<TimedEvent> TwoSteps() {
  std::vector<TimedEvent> events;
  for (const int64_t begin : {1000, 1100}) {
    events.push_back(StepEvent(EventKind::kInputWait, begin, begin + 30));
    events.push_back(StepEvent(EventKind::kDevice, begin + 30, begin + 90));
    TimedEvent step = StepEvent(EventKind::kStep, begin, begin + 100);
    step.event.value = static_cast<uint64_t>(begin / 100);
    events.push_back(step);
  }
  return events;
}

StepRecord Only(const std::vector<TimedEvent>& events, size_t step = 0) {
  const auto trainers = FindSteps(events, 10'000);
  EXPECT_THAT(trainers, SizeIs(1));
  return trainers.at(0).steps.at(step);
}

TEST(Steps, WaitsAndWorkAreThoseWithinTheStep) {
  const auto trainers = FindSteps(TwoSteps(), 2000);
  ASSERT_THAT(trainers, SizeIs(1));
  EXPECT_EQ(trainers[0].process, kProcess);
  EXPECT_EQ(trainers[0].lane, kTrainer);
  EXPECT_EQ(trainers[0].source, TrainerSteps::Source::kTold);
  EXPECT_TRUE(trainers[0].device_seen);
  EXPECT_FALSE(trainers[0].fetched_ahead);
  ASSERT_THAT(trainers[0].steps, SizeIs(2));
  EXPECT_EQ(trainers[0].steps[1], (StepRecord{.number = 11,
                                              .begin = 1100,
                                              .end = 1200,
                                              .input_wait = 30,
                                              .uncovered_wait = 30,
                                              .device = 60}));
}

// Busy time is reported per wait, and divided if the wait lies in two steps.
TEST(Steps, WhatTheThreadRanInItsWaitsIsTheirs) {
  std::vector<TimedEvent> events = TwoSteps();
  events.push_back(StepEvent(EventKind::kInputWait, 1080, 1100));
  events.back().event.value = 10;
  events.push_back(StepEvent(EventKind::kInputWait, 1190, 1210));
  events.back().event.value = 99;  // clocks differ: limited to the wait
  EXPECT_EQ(Only(events).busy_wait, 10);
  EXPECT_EQ(Only(events, 1).busy_wait, 10);
}

// A loader does not know the device of its batches.
TEST(Steps, ADeviceIsTheOneThatStepsName) {
  std::vector<TimedEvent> events;
  for (const uint16_t device : {uint16_t{0}, uint16_t{1}}) {
    for (TimedEvent event : TwoSteps()) {
      event.event.lane = kTrainer + device;
      const bool wait = event.event.kind == EventKind::kInputWait;
      event.event.device = wait ? Event::kNoDevice : device;
      if (device == 1 && event.event.kind == EventKind::kDevice) event.event.begin -= 30;
      events.push_back(event);
    }
  }
  const auto trainers = FindSteps(events, 2000);
  ASSERT_THAT(trainers, SizeIs(2));
  EXPECT_EQ(trainers[1].device, 1);
  EXPECT_EQ(trainers[0].steps[0].uncovered_wait, 30);  // another device's work does not cover it
  EXPECT_EQ(trainers[1].steps[0].uncovered_wait, 0);
}

TEST(Steps, AWaitThatTheDevicesWorkCoversCostsNothing) {
  auto events = TwoSteps();
  events.push_back(
      StepEvent(EventKind::kDevice, 990, 1020, 900));  // a stream, from the step before
  const StepRecord step = Only(events);
  EXPECT_EQ(step.input_wait, 30);
  EXPECT_EQ(step.uncovered_wait, 10);
}

TEST(Steps, WorkOfAnotherDeviceCoversNothing) {
  auto events = TwoSteps();
  events.push_back(StepEvent(EventKind::kDevice, 990, 1200, 900, 1));
  EXPECT_EQ(Only(events).uncovered_wait, 30);
}

TEST(Steps, WhereTheTrainerNamesNoDeviceAllOfItsProcessCount) {
  std::vector<TimedEvent> events;
  events.push_back(StepEvent(EventKind::kStep, 0, 100, kTrainer, Event::kNoDevice));
  events.push_back(StepEvent(EventKind::kInputWait, 0, 50, kTrainer, Event::kNoDevice));
  events.push_back(StepEvent(EventKind::kDevice, 20, 60, 900, 3));
  EXPECT_EQ(Only(events).uncovered_wait, 20);
}

TEST(Steps, AWaitHiddenBehindAnExchangeIsNoWaitForInput) {
  auto events = TwoSteps();
  events.push_back(StepEvent(EventKind::kCollective, 1060, 1090));
  const StepRecord step = Only(events);
  EXPECT_EQ(step.exchange, 30);
  EXPECT_EQ(step.device, 30);  // part of the host's range was a wait for others
  EXPECT_EQ(step.uncovered_wait, 30);
}

TEST(Steps, WaitsOutsideOfStepsAreNoneOfTheTraining) {
  auto events = TwoSteps();
  events.push_back(StepEvent(EventKind::kInputWait, 1200, 1900));
  const auto trainers = FindSteps(events, 2000);
  ASSERT_THAT(trainers, SizeIs(1));
  EXPECT_EQ(trainers[0].steps[0].input_wait + trainers[0].steps[1].input_wait, 60);
}

TEST(Steps, TimeBesideThemIsTheNextStepsWithWaitsOfEvaluations) {
  auto events = TwoSteps();
  TimedEvent last = StepEvent(EventKind::kStep, 1500, 1600);
  last.event.value = 12;
  for (const int64_t begin : {900, 1190, 1300, 1490}) {  // partly in steps, and before the first
    TimedEvent wait = StepEvent(EventKind::kInputWait, begin, begin + 50);
    wait.name = "evaluation";
    events.push_back(wait);
  }
  events.push_back(last);
  EXPECT_EQ(Only(events, 0).beside, 0);
  EXPECT_EQ(Only(events, 1).beside, 0);
  EXPECT_EQ(Only(events, 2).beside, 300);
  EXPECT_EQ(Only(events, 2).evaluation_wait, 40 + 50 + 10);
  EXPECT_EQ(Only(events, 0).evaluation_wait + Only(events, 1).evaluation_wait, 0);
}

TEST(Steps, CopiesAreThoseThatNothingElseCovers) {
  auto events = TwoSteps();
  TimedEvent copy = StepEvent(EventKind::kCopy, 1020, 1095, 900);
  copy.event.copy = CopyKind::kHostToDevice;
  events.push_back(copy);
  EXPECT_EQ(Only(events).copies, 5);
}

TEST(Steps, CopiesBetweenDevicesAreALineOfTheirOwn) {
  auto events = TwoSteps();
  TimedEvent copy = StepEvent(EventKind::kCopy, 1080, 1097, 900);
  copy.event.copy = CopyKind::kPeerToPeer;
  events.push_back(copy);
  EXPECT_EQ(Only(events).device_copies, 7);
  EXPECT_EQ(Only(events).copies, 0);
  // A copy by the host within its range of device work.
  events.back().event.device = Event::kNoDevice;
  EXPECT_EQ(Only(events).device_copies, 17);
  EXPECT_EQ(Only(events).device, 50);
}

// One model on two devices: the second computes for 20 of the first one's 40, and for 10 after it
// while a copy runs.
TEST(Steps, StepsOfSeveralDevices) {
  constexpr uint16_t kNone = Event::kNoDevice;
  std::vector<TimedEvent> events = {StepEvent(EventKind::kInputWait, 0, 10),  // for device 0
                                    StepEvent(EventKind::kDevice, 10, 50, 900, 0),
                                    StepEvent(EventKind::kDevice, 30, 60, 901, 1),
                                    StepEvent(EventKind::kCopy, 55, 75, 901, kNone),
                                    StepEvent(EventKind::kStep, 0, 100, kTrainer, kNone)};
  events[3].event.copy = CopyKind::kPeerToPeer;
  const StepRecord step = Only(events);
  EXPECT_EQ(step.device, 50);
  EXPECT_EQ(step.all_devices, 70);
  EXPECT_EQ(step.more_devices, 30);
  EXPECT_EQ(step.device_copies, 15);
  EXPECT_EQ(step.uncovered_wait, 10);
  EXPECT_EQ(step.hand_overs, 0);
  // With a trainer per device, each gets its own work only.
  events.back().event.device = 0;
  EXPECT_EQ(Only(events).device, 40);
  EXPECT_EQ(Only(events).all_devices, 0);
}

// Copies, gaps between work of the same device, and long gaps do not count as hand-overs.
TEST(Steps, HandingOverFromADeviceToAnother) {
  constexpr uint16_t kNone = Event::kNoDevice;
  constexpr int64_t kUs = 1000;
  std::vector<TimedEvent> events = {StepEvent(EventKind::kDevice, 10 * kUs, 50 * kUs, 900, 0),
                                    StepEvent(EventKind::kDevice, 60 * kUs, 90 * kUs, 900, 0),
                                    StepEvent(EventKind::kCopy, 95 * kUs, 100 * kUs, 901, kNone),
                                    StepEvent(EventKind::kDevice, 120 * kUs, 200 * kUs, 901, 1),
                                    StepEvent(EventKind::kDevice, 1500 * kUs, 1600 * kUs, 900, 0),
                                    StepEvent(EventKind::kStep, 0, 2000 * kUs, kTrainer, kNone)};
  events[2].event.copy = CopyKind::kPeerToPeer;
  EXPECT_EQ(Only(events).hand_overs, 25 * kUs);
}

TEST(Steps, CollectivesInKernelsOfTheirOwnAreExchange) {
  auto events = TwoSteps();
  events.push_back(StepEvent(EventKind::kCollective, 1080, 1098, 900));
  EXPECT_EQ(Only(events).exchange, 8);
  EXPECT_EQ(Only(events).device, 60);
}

// Twenty kernels of 2 us with gaps of 2 us, then a pause in which the host does something else.
TEST(Steps, GapsBetweenLaunchesAreShort) {
  constexpr int64_t kUs = 1000;
  std::vector<TimedEvent> events = {StepEvent(EventKind::kStep, 0, 400 * kUs)};
  for (int64_t i = 0; i < 20; ++i) {
    events.push_back(StepEvent(EventKind::kDevice, 4 * i * kUs, (4 * i + 2) * kUs, 900));
  }
  events.push_back(StepEvent(EventKind::kDevice, 300 * kUs, 302 * kUs, 900));
  EXPECT_EQ(Only(events).launch_gaps, 0) << "nobody told of launches";
  EXPECT_EQ(Only(events).kernels, 0u);
  events.push_back(StepEvent(EventKind::kHost, 0, kUs));
  events.back().name = "cudaLaunchKernel";
  EXPECT_EQ(Only(events).launch_gaps, 38 * kUs);
  EXPECT_EQ(Only(events).kernels, 21u);
}

TEST(Steps, StepsOfAHookThatSawNoCallForABatch) {
  auto step = StepEvent(EventKind::kStep, 0, 100);
  step.name = "optimizer";
  step.event.name = 1;
  EXPECT_FALSE(FindSteps({step}, 100).at(0).waits_seen);
  EXPECT_TRUE(FindSteps({step, StepEvent(EventKind::kInputWait, 0, 1)}, 100).at(0).waits_seen);
  // Waits of an evaluation, of another thread, before the first step, and without a batch.
  auto evaluation = StepEvent(EventKind::kInputWait, 0, 1);
  evaluation.name = "evaluation";
  EXPECT_FALSE(FindSteps({step, evaluation}, 100).at(0).waits_seen);
  EXPECT_FALSE(FindSteps({step, StepEvent(EventKind::kInputWait, 0, 1, 7)}, 100).at(0).waits_seen);
  EXPECT_FALSE(FindSteps({step, StepEvent(EventKind::kInputWait, -9, 0)}, 100).at(0).waits_seen);
  auto start = StepEvent(EventKind::kInputWait, 0, 1);
  start.name = "iter(DataLoader)";
  EXPECT_FALSE(FindSteps({step, start}, 100).at(0).waits_seen);
  step.name.clear();
  step.event.name = 0;  // reported by the program, with all its waits
  EXPECT_TRUE(FindSteps({step}, 100).at(0).waits_seen);
}

// It may take a batch itself, and train on those from the other thread.
TEST(Steps, OfAHookThatSawAFewCallsWhileAnotherThreadFetches) {
  std::vector<TimedEvent> events;
  for (int64_t i = 0; i < 10; ++i) {
    events.push_back(StepEvent(EventKind::kStep, 100 * i, 100 * i + 100));
    events.back().name = "optimizer";
    events.back().event.name = 1;
  }
  events.push_back(StepEvent(EventKind::kInputWait, 0, 1));
  EXPECT_TRUE(FindSteps(events, 1000).at(0).waits_seen);
  events.push_back(StepEvent(EventKind::kRange, 10, 90, 6));
  events.back().name = kFetchedAhead;
  EXPECT_FALSE(FindSteps(events, 1000).at(0).waits_seen);
  for (int64_t i = 0; i < 5; ++i) {
    events.push_back(StepEvent(EventKind::kInputWait, 100 * i, 100 * i + 9));
  }
  EXPECT_TRUE(FindSteps(events, 1000).at(0).waits_seen);
}

TEST(Steps, ThreadsThatFetchAheadAreNoTrainers) {
  auto events = TwoSteps();
  TimedEvent ahead = StepEvent(EventKind::kRange, 1000, 1090, 6);
  ahead.name = kFetchedAhead;
  events.push_back(ahead);
  for (int64_t i = 0; i < 9; ++i) events.push_back(StepEvent(EventKind::kInputWait, i, i + 1, 7));
  const auto trainers = FindSteps(events, 2000);
  ASSERT_THAT(trainers, SizeIs(1));
  EXPECT_EQ(trainers[0].lane, kTrainer);
  EXPECT_TRUE(trainers[0].fetched_ahead);
}

TEST(Steps, WhereNobodyTellsOfStepsTheyAreFromBatchToBatch) {
  std::vector<TimedEvent> events;
  for (const int64_t begin : {300, 100, 200}) {
    events.push_back(StepEvent(EventKind::kInputWait, begin, begin + 40));
  }
  const auto trainers = FindSteps(events, 1000);
  ASSERT_THAT(trainers, SizeIs(1));
  EXPECT_EQ(trainers[0].source, TrainerSteps::Source::kBetweenWaits);
  EXPECT_FALSE(trainers[0].device_seen);
  ASSERT_THAT(trainers[0].steps, SizeIs(2));
  EXPECT_EQ(
      trainers[0].steps[0],
      (StepRecord{.number = 0, .begin = 100, .end = 200, .input_wait = 40, .uncovered_wait = 40}));
}

TEST(Steps, ThoseOfAnOptimizerComeBeforeThoseBetweenBatches) {
  std::vector<TimedEvent> events;
  const auto add = [&](EventKind kind, int64_t begin, int64_t end, const char* name) {
    events.push_back(StepEvent(kind, begin, end));
    events.back().name = name;
  };
  add(EventKind::kStep, 0, 10, "batch");  // a pass over the data before there is an optimizer
  add(EventKind::kStep, 10, 20, "batch");
  EXPECT_EQ(Only(events, 1).begin, 10);
  add(EventKind::kStep, 100, 200, "optimizer");
  add(EventKind::kInputWait, 110, 130, "evaluation");
  add(EventKind::kInputWait, 150, 160, "DataLoader");
  const auto trainers = FindSteps(events, 1000);
  ASSERT_THAT(trainers, SizeIs(1));
  ASSERT_THAT(trainers[0].steps, SizeIs(1));
  EXPECT_EQ(trainers[0].steps[0].input_wait, 10);
}

TEST(Steps, TooFewBatchesMakeNoTrainer) {
  EXPECT_THAT(
      FindSteps({StepEvent(EventKind::kInputWait, 1, 2), StepEvent(EventKind::kInputWait, 3, 4)},
                9),
      IsEmpty());
}

TEST(Steps, AWaitThatLastsEndsNow) {
  std::vector<TimedEvent> events = {StepEvent(EventKind::kStep, 0, 1000)};
  TimedEvent wait = StepEvent(EventKind::kInputWait, 400, 0);
  wait.event.open = true;
  events.push_back(wait);
  EXPECT_EQ(Only(events).input_wait, 600);
  wait.event.open = false;
  wait.event.end = 450;
  events.push_back(wait);
  EXPECT_EQ(Only(events).input_wait, 50);
}

TEST(Steps, ThreadsThatTakeTheStepsOfADeviceInTurnAreOneTrainer) {
  const auto trainers =
      FindSteps({StepEvent(EventKind::kStep, 50, 60, 8), StepEvent(EventKind::kStep, 0, 10, 7),
                 StepEvent(EventKind::kStep, 10, 20, 7)},
                100);
  ASSERT_THAT(trainers, SizeIs(1));
  EXPECT_THAT(trainers[0].steps, SizeIs(3));
}

TEST(Steps, EachProcessAndDeviceIsATrainerOfItsOwn) {
  std::vector<TimedEvent> events;
  for (const auto& [process, lane, device] : {std::tuple{9, 3u, 1}, {9, 2u, 0}, {4, 3u, 0}}) {
    TimedEvent step = StepEvent(EventKind::kStep, 0, 10, lane, static_cast<uint16_t>(device));
    step.process = process;
    events.push_back(step);
  }
  const auto trainers = FindSteps(events, 10);
  ASSERT_THAT(trainers, SizeIs(3));
  EXPECT_EQ(trainers[0].process, 4);
  EXPECT_EQ(trainers[1].device, 0);
  EXPECT_EQ(trainers[2].device, 1);
}

// Two devices whose steps overlap, in many small additions: nothing is lost or counted twice.
TEST(StepCollector, EventsThatComeBitByBitGiveTheSameSteps) {
  std::vector<TimedEvent> events;
  for (int64_t i = 0; i < 500; ++i) {
    for (const uint16_t device : {uint16_t{0}, uint16_t{1}}) {
      const int64_t begin = 100 * i + 200 * (i / 50) + 37 * device;
      const uint32_t lane = 10u + device;
      if (i % 50 == 0) {
        events.push_back(StepEvent(EventKind::kInputWait, begin - 150, begin - 20, lane, device));
        events.back().name = "evaluation";
      }
      // Programs report waits twice: when they begin, and when they have ended.
      events.push_back(StepEvent(EventKind::kInputWait, begin, begin, lane, device));
      events.back().event.open = true;
      events.push_back(StepEvent(EventKind::kInputWait, begin, begin + i % 50, lane, device));
      events.push_back(StepEvent(EventKind::kDevice, begin + 30, begin + 90, lane, device));
      events.push_back(StepEvent(EventKind::kStep, begin, begin + 100, lane, device));
      events.back().event.value = static_cast<uint64_t>(i);
    }
  }
  const auto expected = FindSteps(events, 1'000'000);
  ASSERT_THAT(expected, SizeIs(2));
  ASSERT_THAT(expected[0].steps, SizeIs(500));
  EXPECT_EQ(expected[0].steps[50].beside, 200);
  EXPECT_EQ(expected[0].steps[50].evaluation_wait, 130);
  for (const size_t at_once : {1u, 7u, 64u, 5000u}) {
    StepCollector collector(100);
    for (size_t i = 0; i < events.size(); i += at_once) {
      const auto begin = events.begin() + static_cast<ptrdiff_t>(i);
      const auto end =
          events.begin() + static_cast<ptrdiff_t>(std::min(i + at_once, events.size()));
      collector.Add({begin, end});
    }
    const auto got = collector.Trainers(1'000'000);
    ASSERT_THAT(got, SizeIs(2));
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(got[i].steps, expected[i].steps) << at_once;
    for (const size_t most : {1u, 30u, 400u, 900u}) {
      const auto latest = collector.Trainers(1'000'000, most);
      ASSERT_THAT(latest, SizeIs(2));
      for (size_t i = 0; i < 2; ++i) {
        const auto& all = expected[i].steps;
        const auto count = static_cast<ptrdiff_t>(std::min(most, all.size()));
        EXPECT_EQ(latest[i].steps, std::vector<StepRecord>(all.end() - count, all.end())) << most;
      }
    }
  }
}

// Its events come in after the step before it was dropped.
TEST(StepCollector, APauseLongerThanAMinuteIsBesideTheSteps) {
  constexpr int64_t kMinute = 60'000'000'000;
  StepCollector collector(8);
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t begin = 1'000'000 * i + (i < 20 ? 0 : 5 * kMinute);
    if (i == 20) {
      for (int64_t second = 0; second < 250; ++second) {  // of an evaluation
        const int64_t at = 20'000'000 + second * 1'000'000'000;
        collector.Add({StepEvent(EventKind::kDevice, at, at + 1000)});
      }
    }
    collector.Add({StepEvent(EventKind::kStep, begin, begin + 1'000'000)});
  }
  const auto trainers = collector.Trainers(6 * kMinute);
  ASSERT_THAT(trainers, SizeIs(1));
  ASSERT_THAT(trainers[0].steps, SizeIs(40));
  EXPECT_EQ(trainers[0].steps[20].beside, 5 * kMinute);
}

// Many trainings in separate processes, one after the other: memory does not grow.
TEST(StepCollector, KeepsNoEventsOfTrainersThatHaveEnded) {
  constexpr size_t kTrainings = 10, kSteps = 300;
  StepCollector collector(100);
  for (size_t training = 0; training < kTrainings; ++training) {
    for (size_t i = 0; i < kSteps; ++i) {
      const auto begin = static_cast<int64_t>(training * 2 * kSteps + i) * kSecond;
      std::vector<TimedEvent> step = {
          StepEvent(EventKind::kInputWait, begin, begin + kSecond / 10),
          StepEvent(EventKind::kStep, begin + kSecond / 10, begin + kSecond)};
      step[1].event.value = i;
      for (TimedEvent& timed : step) timed.process = static_cast<int>(training) + 1;
      collector.Add(std::move(step));
    }
  }
  EXPECT_LT(collector.pending(), 2 * 2 * kSteps);
  const auto trainers = collector.Trainers(INT64_MAX / 2);
  ASSERT_THAT(trainers, SizeIs(kTrainings));
  for (const TrainerSteps& trainer : trainers) EXPECT_THAT(trainer.steps, SizeIs(kSteps));
}

// Memory is bounded also for many events within a minute.
TEST(StepCollector, KeepsOnlyTheLastStepOfATrainerThatGoesOn) {
  constexpr size_t kSteps = 2000, kMost = 100;
  constexpr int64_t kStepLength = 1'000'000;
  StepCollector collector(kMost);
  for (size_t i = 0; i < kSteps; ++i) {
    const int64_t begin = static_cast<int64_t>(i) * kStepLength;
    std::vector<TimedEvent> step = {
        StepEvent(EventKind::kInputWait, begin, begin + kStepLength / 10),
        StepEvent(EventKind::kDevice, begin + kStepLength / 10, begin + kStepLength),
        StepEvent(EventKind::kStep, begin, begin + kStepLength)};
    step[2].event.value = i;
    collector.Add(std::move(step));
    EXPECT_LE(collector.pending(), kMost + 3) << i;
  }
  const auto trainers = collector.Trainers(INT64_MAX / 2);
  ASSERT_THAT(trainers, SizeIs(1));
  EXPECT_THAT(trainers[0].steps, SizeIs(kSteps));
}

// Two ranks that step a hundred times a second for hours: waits of the second half are longer.
TEST(StepCollector, KeepsSomeOfManyStepsThatRepresentAll) {
  constexpr int64_t kSteps = 300'000, kStepLength = 10'000'000;
  StepCollector collector(10'000);
  std::vector<TimedEvent> events;
  for (int64_t i = 0; i < kSteps; ++i) {
    for (const int process : {1, 2}) {
      const int64_t begin = i * kStepLength;
      const int64_t wait = (i < kSteps / 2 ? 1 : 3) * kStepLength / 10;
      events.push_back(StepEvent(EventKind::kInputWait, begin, begin + wait));
      events.back().process = process;
      events.push_back(StepEvent(EventKind::kStep, begin, begin + kStepLength));
      events.back().process = process;
      events.back().event.value = static_cast<uint64_t>(i);
    }
    if (i % 100 == 99) collector.Add(std::exchange(events, {}));
  }
  const auto trainers = collector.Trainers(kSteps * kStepLength);
  ASSERT_THAT(trainers, SizeIs(2));
  double waits = 0;
  for (const StepRecord& step : trainers[0].steps) waits += static_cast<double>(step.input_wait);
  const auto count = trainers[0].steps.size();
  EXPECT_LT(count, KeptSteps::kMost);
  EXPECT_GT(count, KeptSteps::kMost / 4);
  EXPECT_EQ(count + trainers[0].dropped, static_cast<size_t>(kSteps));
  EXPECT_NEAR(waits / static_cast<double>(count * kStepLength), 0.2, 0.005);
  EXPECT_EQ(trainers[0].steps.front().number, 0u);
  EXPECT_EQ(trainers[0].steps, trainers[1].steps);
  const auto latest = collector.Trainers(kSteps * kStepLength, 5000);
  ASSERT_THAT(latest[0].steps, SizeIs(5000));
  EXPECT_EQ(latest[0].steps.front().number, static_cast<uint64_t>(kSteps) - 5000);
  EXPECT_EQ(latest[0].dropped, 0u);
}

TEST(StepCollector, BoundsStepsThatTheProgramDoesNotCount) {
  StepCollector collector(1000);
  for (int64_t i = 0; i < 200'000; ++i) {
    collector.Add({StepEvent(EventKind::kStep, 100 * i, 100 * i + 100)});  // all have number 0
  }
  const auto trainers = collector.Trainers(INT64_MAX / 2);
  ASSERT_THAT(trainers, SizeIs(1));
  EXPECT_LT(trainers[0].steps.size(), KeptSteps::kMost + 1000);
  EXPECT_EQ(trainers[0].steps.size() + trainers[0].dropped, 200'000u);
}

}  // namespace
}  // namespace recpack::probe

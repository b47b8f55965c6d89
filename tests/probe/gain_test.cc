#include "src/probe/gain/gain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <sstream>

namespace recpack::probe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint32_t kSteps = 16;  // per block: 4 left out, 11 measured
constexpr uint32_t kBatch = 10;

// Simulates a training whose steps take a known time per kind of batches.
struct Training {
  std::array<int64_t, GainPlan::kKinds> step = {2'000'000, 1'000'000, 1'250'000, 900'000};  // ns
  int process = 7;
  uint32_t loader = 0;
  uint16_t device = 0;
  int64_t at_change = 50'000'000;  // added to the first steps of each block

  std::vector<TimedEvent> Take(uint64_t steps) const {
    const GainPlan plan(3, kSteps);
    std::vector<TimedEvent> events;
    int64_t time = 1'000;
    for (uint64_t i = 0; i < steps; ++i) {
      const auto block = plan.At(i);
      events.push_back(Mark(block.kind, block.number, time));
      time += step[block.kind] + (i % kSteps < 4 ? at_change : 0);
    }
    return events;
  }

  TimedEvent Mark(uint32_t kind, uint64_t block, int64_t time) const {
    const GainMark mark{.kind = kind, .loader = loader, .batch_size = kBatch};
    return {.event = {.kind = EventKind::kRange,
                      .device = device,
                      .lane = 99,
                      .begin = time,
                      .end = time,
                      .value = block},
            .process = process,
            .name = mark.Name()};
  }
};

constexpr uint64_t FindSteps(uint64_t rounds) { return kSteps * (1 + 4 * rounds) + 1; }

GainResult ResultOf(const std::vector<std::vector<TimedEvent>>& all) {
  GainBlocks blocks(kSteps);
  for (const auto& events : all) blocks.Add(events);
  return blocks.Result();
}

TEST(Gain, IsWhatTheBlocksDiffer) {
  const GainResult result = ResultOf({Training().Take(FindSteps(3))});
  EXPECT_EQ(result.rounds, 3U);
  EXPECT_EQ(result.trainers, 1U);
  EXPECT_EQ(result.measured_steps, 11U);
  EXPECT_NEAR(result.rate(LoaderMode::kLive).value, 5'000, 1e-6);
  EXPECT_NEAR(result.rate(LoaderMode::kReplay).value, 10'000, 1e-6);
  EXPECT_NEAR(result.gain.value, 5'000, 1e-6);
  EXPECT_NEAR(result.gain.low, 5'000, 1e-3) << "all rounds were alike";
  EXPECT_NEAR(result.ratio.value, 2, 1e-9);
  EXPECT_NEAR(result.starvation.value, 3'000, 1e-6);
  EXPECT_NEAR(result.interference.value, 2'000, 1e-6);
  EXPECT_NEAR(result.synthetic.value, 10 / 0.0009 - 10'000, 1e-3);
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST(Gain, ARoundCountsOnceItIsOver) {
  EXPECT_EQ(ResultOf({Training().Take(FindSteps(1) - 1)}).rounds, 0U);
  EXPECT_EQ(ResultOf({Training().Take(FindSteps(1))}).rounds, 1U);
  EXPECT_EQ(ResultOf({Training().Take(FindSteps(2) - 1)}).rounds, 1U);
}

TEST(Gain, EventsMayComeBitByBit) {
  const auto events = Training().Take(FindSteps(3));
  GainBlocks blocks(kSteps);
  for (const TimedEvent& event : events) blocks.Add({event});
  EXPECT_EQ(blocks.batches(), events.size());
  EXPECT_NEAR(blocks.Result().gain.value, 5'000, 1e-6);
}

TEST(Gain, OfSeveralDevicesIsThatOfAllTogether) {
  Training other;
  other.device = 1;
  other.step[0] = 4'000'000;
  const GainResult result = ResultOf({Training().Take(FindSteps(3)), other.Take(FindSteps(2))});
  EXPECT_EQ(result.trainers, 2U);
  EXPECT_EQ(result.rounds, 2U) << "that all have finished";
  EXPECT_NEAR(result.rate(LoaderMode::kLive).value, 7'500, 1e-6);
  EXPECT_NEAR(result.gain.value, 12'500, 1e-6);
}

TEST(Gain, AndOfSeveralProcesses) {
  Training other;
  other.process = 8;
  const GainResult result = ResultOf({Training().Take(FindSteps(2)), other.Take(FindSteps(2))});
  EXPECT_EQ(result.trainers, 2U);
  EXPECT_NEAR(result.gain.value, 10'000, 1e-6);
}

TEST(Gain, ALoaderThatGivesLittleIsNoTrainings) {
  Training evaluation;
  evaluation.loader = 1;
  const GainResult result = ResultOf({Training().Take(FindSteps(4)), evaluation.Take(20)});
  EXPECT_EQ(result.trainers, 1U);
  EXPECT_NEAR(result.gain.value, 5'000, 1e-6);
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("loader 1 of process 7 gave 20 batches")));
}

TEST(Gain, WhatLiesBetweenEpochsIsLeftOut) {
  const Training training;
  std::vector<TimedEvent> events;
  int64_t later = 0;
  for (TimedEvent event : training.Take(FindSteps(3))) {
    event.event.begin += later;
    events.push_back(event);
    if (events.size() % 20 != 0) continue;
    events.push_back(training.Mark(GainMark::kEndOfEpoch, event.event.value, event.event.begin));
    later += 5'000'000'000;  // an evaluation
  }
  EXPECT_NEAR(ResultOf({events}).gain.value, 5'000, 1e-6);
}

TEST(Gain, RoundsOfTooManyEpochsDoNotCount) {
  const Training training;
  std::vector<TimedEvent> events;
  for (const TimedEvent& event : training.Take(FindSteps(2))) {
    events.push_back(event);
    events.push_back(training.Mark(GainMark::kEndOfEpoch, event.event.value, event.event.begin));
  }
  const GainResult result = ResultOf({events});
  EXPECT_EQ(result.rounds, 0U);
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("larger data set")));
}

TEST(Gain, EventsThatMakeNoSenseAreNone) {
  Training damaged;
  std::vector<TimedEvent> events = damaged.Take(FindSteps(2));
  events.push_back(damaged.Mark(0, ~uint64_t{0}, 5));
  events.push_back(damaged.Mark(0, 1, 5));
  TimedEvent other = events.front();
  other.name = "a range of the user";
  events.push_back(other);
  EXPECT_NEAR(ResultOf({events}).gain.value, 5'000, 1e-6);
  EXPECT_EQ(ResultOf({}).rounds, 0U);
  EXPECT_EQ(ResultOf({}).trainers, 0U);
}

TEST(Gain, TheTextIsOneScreenWithTheGainFirst) {
  const std::string text = GainText(ResultOf({Training().Take(FindSteps(3))}));
  EXPECT_THAT(text, testing::StartsWith("gain of a perfect input: +5000.0 samples/s"));
  EXPECT_THAT(text, HasSubstr("starvation"));
  std::istringstream lines(text);
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_LE(count, 24U);
  EXPECT_THAT(GainText({}), testing::StartsWith("gain: unknown"));
}

TEST(Gain, TheJsonHasAllFigures) {
  const auto json = nlohmann::json::parse(GainJson(ResultOf({Training().Take(FindSteps(3))})));
  EXPECT_EQ(json["rounds"], 3);
  EXPECT_NEAR(json["gain"]["value"], 5'000, 1e-6);
  EXPECT_NEAR(json["samples_per_s"]["live"]["low"], 5'000, 1e-3);
  EXPECT_TRUE(json.contains("interference"));
  const auto one = nlohmann::json::parse(GainJson(ResultOf({Training().Take(FindSteps(1))})));
  EXPECT_TRUE(one["gain"]["low"].is_null()) << "one round has no interval";
  EXPECT_FALSE(nlohmann::json::parse(GainJson({})).contains("gain"));
}

}  // namespace
}  // namespace recpack::probe

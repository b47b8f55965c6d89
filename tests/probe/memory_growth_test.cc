#include "src/probe/evidence/memory_growth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>

#include "tests/probe/second.h"

namespace recpack::probe {
namespace {

constexpr int kTrainerProcess = 7;
constexpr double kMegabyte = 1e6;

// A run of 100 s with 10 steps a second until `last`, sampled each second: `bytes` of private
// memory by time.
std::vector<MemoryGrowth> Find(const std::function<double(double seconds)>& bytes,
                               int64_t seconds = 100, int64_t steps_per_second = 10,
                               std::optional<double> last = {}) {
  std::vector<SystemSample> samples;
  for (int64_t i = 0; i <= seconds; ++i) {
    ProcessSample process{.process = kTrainerProcess};
    process.private_bytes = static_cast<uint64_t>(bytes(static_cast<double>(i)));
    SystemSample sample{.time_ns = i * kSecond};
    sample.processes = {ProcessSample{.process = 1, .private_bytes = 5}, process};
    sample.memory.available_bytes = 1'000'000'000;
    samples.push_back(sample);
  }
  TrainerSteps trainer{.process = kTrainerProcess};
  const int64_t length = kSecond / steps_per_second;
  const auto end = static_cast<int64_t>(last.value_or(static_cast<double>(seconds)) *
                                        static_cast<double>(kSecond));
  for (int64_t at = 0; at + length <= end; at += length) {
    trainer.steps.push_back({.begin = at, .end = at + length});
  }
  return FindMemoryGrowth(samples, {trainer, trainer});
}

TEST(MemoryGrowth, IsFoundWithItsRateAndBegin) {
  const auto found =
      Find([](double t) { return 500 * kMegabyte + 10 * kMegabyte * std::max(0.0, t - 20); });
  ASSERT_EQ(found.size(), 1u);  // two trainers of one process
  EXPECT_EQ(found[0].process, kTrainerProcess);
  EXPECT_NEAR(found[0].bytes_per_step.value, 1 * kMegabyte, 0.01 * kMegabyte);
  EXPECT_LE(found[0].bytes_per_step.low, 1 * kMegabyte);
  EXPECT_NEAR(found[0].since_s, 20, 6.5);  // an eighth of the second half
  EXPECT_NEAR(static_cast<double>(found[0].grown), 800 * kMegabyte, 60 * kMegabyte);
  EXPECT_NEAR(found[0].full_in_s, 100, 3);
}

TEST(MemoryGrowth, IsFoundUnderNoise) {
  const auto found = Find([](double t) {
    return 500 * kMegabyte + 3 * kMegabyte * t + 10 * kMegabyte * std::sin(7 * t);
  });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_GT(found[0].bytes_per_step.high, 0.3 * kMegabyte);
  EXPECT_LT(found[0].bytes_per_step.low, 0.3 * kMegabyte);
}

TEST(MemoryGrowth, DoesNotLookBehindTheLastStepWhereAProgramFreesItsMemory) {
  const auto bytes = [](double t) { return t > 99 ? 0 : 500 * kMegabyte + 10 * kMegabyte * t; };
  const auto found = Find(bytes, 100, 10, 99.5);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].bytes_per_step.value, 1 * kMegabyte, 0.01 * kMegabyte);
}

TEST(MemoryGrowth, IsNotWhatEnds) {
  EXPECT_TRUE(Find([](double) { return 500 * kMegabyte; }).empty());
  // Allocated while the training warms up.
  EXPECT_TRUE(
      Find([](double t) { return 500 * kMegabyte + 20 * kMegabyte * std::min(t, 40.0); }).empty());
  // Freed from time to time, as by a garbage collector.
  EXPECT_TRUE(
      Find([](double t) { return 500 * kMegabyte + 20 * kMegabyte * std::fmod(t, 13); }).empty());
  // A step up, such as an evaluation's buffers.
  EXPECT_TRUE(Find([](double t) { return t < 80 ? 500 * kMegabyte : 700 * kMegabyte; }).empty());
  // Noise without growth.
  EXPECT_TRUE(
      Find([](double t) { return 500 * kMegabyte + 20 * kMegabyte * std::sin(7 * t); }).empty());
}

TEST(MemoryGrowth, IsNotToldWhereItIsSmallOrTheRunShort) {
  EXPECT_TRUE(Find([](double t) { return 500 * kMegabyte + 0.2 * kMegabyte * t; }).empty());
  EXPECT_TRUE(Find([](double t) { return 5000 * kMegabyte + 1.5 * kMegabyte * t; }).empty());
  EXPECT_TRUE(Find([](double t) { return 10 * kMegabyte * t; }, 20).empty());
  EXPECT_TRUE(Find([](double t) { return 10 * kMegabyte * t; }, 100, 1).empty());
}

}  // namespace
}  // namespace recpack::probe

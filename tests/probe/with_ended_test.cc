#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/probe/procfs/system_rates.h"
#include "src/probe/procfs/system_sample.h"
#include "tests/probe/second.h"

namespace recpack::probe {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// Process 7 with thread 8; with thread 9 and process 5 unless they have ended.
SystemSample At(int64_t seconds, bool ended) {
  const auto ran = static_cast<uint64_t>(seconds * kSecond);
  SystemSample sample{.time_ns = seconds * kSecond};
  sample.processes = {{.process = 7, .start_ticks = 1}};
  sample.threads = {{.thread = 8, .process = 7, .run_ns = ran / 2}};
  if (!ended) {
    sample.threads.push_back({.thread = 9, .process = 7, .run_ns = ran});
    sample.processes.push_back({.process = 5, .start_ticks = 2, .user_ns = ran});
  }
  return sample;
}

TEST(WithEnded, WhatEndedBeforeTheLastSampleCountsUntilItWasSeenLast) {
  const std::vector<SystemSample> samples = {At(0, false), At(1, false), At(3, false), At(4, true)};
  const SystemRates rates = RatesBetween(samples[0], WithEnded(samples, 0, 3));
  ASSERT_THAT(rates.threads, SizeIs(2));
  EXPECT_EQ(rates.threads[0].thread, 8);
  EXPECT_DOUBLE_EQ(rates.threads[0].cpu_share, 0.5);
  EXPECT_EQ(rates.threads[1].thread, 9);
  EXPECT_DOUBLE_EQ(rates.threads[1].cpu_share, 0.75);
  ASSERT_THAT(rates.processes, SizeIs(2));
  EXPECT_DOUBLE_EQ(rates.processes[1].cpu_cores, 0.75);
}

TEST(WithEnded, WhatEndedBeforeTheFirstOneDoesNotCount) {
  const std::vector<SystemSample> samples = {At(0, false), At(1, true), At(2, true)};
  EXPECT_THAT(WithEnded(samples, 0, 2).threads, SizeIs(1));
  EXPECT_THAT(WithEnded(samples, 0, 2).processes, SizeIs(1));
}

TEST(WithEnded, AnotherProcessOfTheSameNumberIsAnother) {
  std::vector<SystemSample> samples = {At(0, true), At(1, false), At(2, false)};
  samples[2].processes[1].start_ticks = 3;
  EXPECT_THAT(WithEnded(samples, 0, 2).processes, SizeIs(3));
}

}  // namespace
}  // namespace recpack::probe

#include "tools/recpack/bench_predict.h"

#include <gtest/gtest.h>

namespace recpack::tool {
namespace {

constexpr double kBytesPerSecond = 1e6;

// A second of `threads` threads that each took so long for each of their samples, whose bytes one
// of them alone could store in `moving`.
BenchRun RunOf(int threads, std::chrono::milliseconds each, std::chrono::milliseconds moving) {
  BenchRun run{.threads = threads, .seconds = 1, .consumer_seconds = 1e-3};
  run.samples = threads * 1e3 / static_cast<double>(each.count());
  run.sample_bytes = static_cast<double>(moving.count()) * 1e-3 * kBytesPerSecond;
  run.stages[static_cast<size_t>(Stage::kDecode)].time =
      std::chrono::nanoseconds(each) * static_cast<int64_t>(run.samples);
  return run;
}

using std::chrono::milliseconds;

const Scaling kFree({{.threads = 1}, {.threads = 4}}, kBytesPerSecond);

TEST(Predict, ThreadsThatTakeNothingFromEachOther) {
  const BenchRun run = RunOf(1, milliseconds(10), milliseconds(5));
  EXPECT_DOUBLE_EQ(Predict(run, 1, kFree), 100);
  EXPECT_NEAR(Predict(run, 3, kFree), 300, 1);
}

TEST(Predict, WhatWasMeasuredIsNotPredictedOtherwise) {
  BenchRun run = RunOf(2, milliseconds(10), milliseconds(5));
  run.samples *= 0.9;  // time that no stage counts
  EXPECT_DOUBLE_EQ(Predict(run, 2, kFree), 180);
}

TEST(Predict, SlowerTogether) {
  const Scaling slow({{.threads = 1}, {.threads = 2, .compute = 1.25, .memory = 1.25}},
                     kBytesPerSecond);
  const BenchRun one = RunOf(1, milliseconds(10), milliseconds(5));
  EXPECT_NEAR(Predict(one, 2, slow), 160, 1);
  EXPECT_NEAR(Predict(RunOf(2, milliseconds(10), milliseconds(5)), 1, slow), 125, 1);
}

TEST(Predict, MemoryIsMissedOnlyWhileSeveralWantIt) {
  const Scaling narrow({{.threads = 1}, {.threads = 2, .compute = 1, .memory = 2}},
                       kBytesPerSecond);
  EXPECT_NEAR(Predict(RunOf(1, milliseconds(10), milliseconds(0)), 2, narrow), 200, 1);
  EXPECT_NEAR(Predict(RunOf(1, milliseconds(10), milliseconds(10)), 2, narrow), 100, 1);
  EXPECT_NEAR(Predict(RunOf(1, milliseconds(10), milliseconds(5)), 2, narrow), 160, 1);
}

TEST(Predict, MoreThreadsThanCoresTakeTurns) {
  BenchRun run = RunOf(8, milliseconds(20), milliseconds(0));  // 10 each, the others' turns besides
  EXPECT_NEAR(Predict(run, 4, kFree), 400, 4);
  EXPECT_NEAR(Predict(run, 1, kFree), 100, 2);
}

TEST(Scaling, IsInterpolated) {
  const Scaling scaling({{.threads = 1}, {.threads = 4, .compute = 1.6, .memory = 4}},
                        kBytesPerSecond);
  EXPECT_DOUBLE_EQ(scaling.At(1).compute, 1);
  EXPECT_DOUBLE_EQ(scaling.At(2).compute, 1.2);
  EXPECT_DOUBLE_EQ(scaling.At(3).memory, 3);
  EXPECT_DOUBLE_EQ(scaling.At(9).memory, 4);
}

}  // namespace
}  // namespace recpack::tool

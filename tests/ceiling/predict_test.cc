#include "src/ceiling/predict.h"

#include <gtest/gtest.h>

#include <chrono>

namespace recpack::ceiling {
namespace {

constexpr double kBytesPerSecond = 1e6;

// Costs of `threads` threads that ran for one second with the given times per sample; one thread
// alone stores the bytes of a sample in `moving`.
LoaderCost RunOf(int threads, std::chrono::milliseconds each, std::chrono::milliseconds moving) {
  const auto seconds = [](std::chrono::milliseconds time) {
    return static_cast<double>(time.count()) * 1e-3;
  };
  return {.threads = threads,
          .per_second = threads / seconds(each),
          .work = seconds(each),
          .bytes = seconds(moving) * kBytesPerSecond,
          .consumer = 1e-5,
          .consumer_cpu = 1e-5};
}

double Predict(const LoaderCost& cost, int threads, const Scaling& scaling) {
  return Predict(cost, LoaderChange{.threads = threads}, scaling);
}

using std::chrono::milliseconds;

const Scaling kFree({{.threads = 1}, {.threads = 4}}, kBytesPerSecond);

TEST(Predict, ThreadsThatTakeNothingFromEachOther) {
  const LoaderCost run = RunOf(1, milliseconds(10), milliseconds(5));
  EXPECT_DOUBLE_EQ(Predict(run, 1, kFree), 100);
  EXPECT_NEAR(Predict(run, 3, kFree), 300, 1);
}

TEST(Predict, WhatWasMeasuredIsNotPredictedOtherwise) {
  LoaderCost run = RunOf(2, milliseconds(10), milliseconds(5));
  run.per_second *= 0.9;  // overhead that no stage counts
  EXPECT_DOUBLE_EQ(Predict(run, 2, kFree), 180);
}

TEST(Predict, SlowerTogether) {
  const Scaling slow({{.threads = 1}, {.threads = 2, .compute = 1.25, .memory = 1.25}},
                     kBytesPerSecond);
  const LoaderCost one = RunOf(1, milliseconds(10), milliseconds(5));
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
  LoaderCost run =
      RunOf(8, milliseconds(20), milliseconds(0));  // 10 each, the others' turns besides
  EXPECT_NEAR(Predict(run, 4, kFree), 400, 4);
  EXPECT_NEAR(Predict(run, 1, kFree), 100, 2);
}

// 10 ms of work per sample on one thread of four cores, 5 of them decoding, and a consumer of 4 ms.
const LoaderCost kTrained{
    .threads = 1, .per_second = 100, .work = 10e-3, .consumer = 4e-3, .consumer_cpu = 4e-3};

TEST(Predict, TheConsumerTakesNoMoreThanItCan) {
  EXPECT_NEAR(Predict(kTrained, {.threads = 2}, kFree), 200, 1);
  EXPECT_NEAR(Predict(kTrained, {.threads = 4}, kFree), 250, 1);
  EXPECT_NEAR(Predict(kTrained, {.threads = 4, .alone = true}, kFree), 400, 1);
}

TEST(Predict, TheCoresAreSharedWithTheConsumer) {
  LoaderCost greedy = kTrained;
  greedy.consumer_cpu = 10e-3;  // trainer with several threads
  EXPECT_NEAR(Predict(greedy, {.threads = 4}, kFree), 200, 1);
  EXPECT_NEAR(Predict(greedy, {.copies = 4}, kFree), 200, 1);
}

TEST(Predict, LessWorkASample) {
  EXPECT_NEAR(Predict(kTrained, {.work = 0.5}, kFree), 200, 1);
  EXPECT_NEAR(Predict(kTrained, {.work = 0}, kFree), 250, 1);
}

TEST(Predict, RanksHaveThreadsAndConsumersOfTheirOwn) {
  EXPECT_NEAR(Predict(kTrained, {.copies = 2}, kFree), 200, 1);
  EXPECT_NEAR(Predict(kTrained, {.copies = 8}, kFree), 4 / 14e-3, 1);
}

TEST(Predict, TheStorageGivesNoMoreThanItCan) {
  EXPECT_NEAR(Predict(kTrained, {.threads = 2, .read_ceiling = 150}, kFree), 150, 1);
  EXPECT_NEAR(Predict(kTrained, {.threads = 2, .bytes = 0.5, .read_ceiling = 90}, kFree), 180, 1);
  EXPECT_NEAR(Predict(kTrained, {.threads = 2, .bytes = 0, .read_ceiling = 90}, kFree), 200, 1);
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
}  // namespace recpack::ceiling

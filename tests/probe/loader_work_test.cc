#include "src/probe/evidence/loader_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "src/probe/causes/decide.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kMs = 1'000'000;

// Ten samples, one every 100 ms, with 10 more batches each; the consumer waits for a part of each
// batch's 10 ms.
std::vector<LoaderSample> Samples(int wait_ms) {
  std::vector<LoaderSample> samples(10);
  for (size_t i = 0; i < samples.size(); ++i) {
    LoaderStats& stats = samples[i].stats;
    samples[i].time = static_cast<int64_t>(i) * 100 * kMs;
    samples[i].process = 5;
    stats.batches = 10 * i;
    stats.consumer_wait = std::chrono::milliseconds(wait_ms * static_cast<int>(10 * i));
    stats.workers.resize(1);
    stats.workers[0].stages[static_cast<size_t>(Stage::kDecode)].time =
        std::chrono::milliseconds(100 * i);
  }
  return samples;
}

// The consumer waits in the first three intervals, in which the workers decode. In the other six
// they wait for room.
TEST(LoaderWork, RoomWhileNobodyWaitsIsNotRoomInWaits) {
  std::vector<LoaderSample> samples = Samples(0);
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::chrono::milliseconds waited(100 * std::min<size_t>(i, 3));
    auto& stages = samples[i].stats.workers[0].stages;
    samples[i].stats.consumer_wait = waited;
    stages[static_cast<size_t>(Stage::kRoom)].time = std::chrono::milliseconds(100 * i) - waited;
    stages[static_cast<size_t>(Stage::kDecode)].time = waited;
  }
  const auto work = FindLoaderWork(samples);
  ASSERT_TRUE(work);
  EXPECT_NEAR(work->Share(Stage::kRoom), 6. / 9, 1e-9);
  EXPECT_EQ(work->room_in_waits, 0);
  EXPECT_EQ(Decide({.loaders = samples}).bottleneck, Bottleneck::kDecode);
}

TEST(LoaderSteps, ABatchIsAStep) {
  const auto trainers = MakeLoaderSteps(Samples(4));
  ASSERT_THAT(trainers, SizeIs(1));
  EXPECT_EQ(trainers[0].process, 5);
  EXPECT_EQ(trainers[0].source, TrainerSteps::Source::kLoader);
  ASSERT_THAT(trainers[0].steps, SizeIs(90));
  EXPECT_EQ(trainers[0].steps[11], (StepRecord{.number = 11,
                                               .begin = 110 * kMs,
                                               .end = 120 * kMs,
                                               .input_wait = 4 * kMs,
                                               .uncovered_wait = 4 * kMs}));
}

TEST(LoaderSteps, SamplesWithoutANewBatchAreJoinedToTheNext) {
  auto samples = Samples(4);
  samples[3].stats.batches = samples[2].stats.batches;
  EXPECT_THAT(MakeLoaderSteps(samples)[0].steps, SizeIs(90));
  EXPECT_THAT(MakeLoaderSteps({samples[0]}), IsEmpty());
  EXPECT_THAT(MakeLoaderSteps({}), IsEmpty());
}

// The consumer may be a thread that prefetches for the training.
TEST(LoaderSteps, OfAProgramThatWasJoinedTheyMakeAnUpperBound) {
  const Verdict waits =
      Decide({.loaders = Samples(4), .accelerators = false, .no_steps = "not started by us"});
  EXPECT_EQ(waits.band, Band::kUndecided);
  EXPECT_NEAR(waits.input_share.value, 0.4, 1e-9);
  EXPECT_NEAR(waits.steps_per_second, 100, 1e-6);
  EXPECT_EQ(waits.bottleneck, Bottleneck::kDecode);
  EXPECT_THAT(waits.notes, Contains(HasSubstr("input wait: unavailable: not started by us")));
  EXPECT_THAT(waits.notes, Contains(HasSubstr("the loader's own statistics")));
  EXPECT_THAT(waits.notes, Contains(HasSubstr("may fetch them ahead")));
  EXPECT_EQ(Decide({.loaders = Samples(0)}).band, Band::kNotInput);
}

}  // namespace
}  // namespace recpack::probe

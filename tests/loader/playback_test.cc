// Experiments on a loader, requested by this or another process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/base/forked.h"
#include "tests/loader/settled.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

constexpr std::chrono::seconds kLong(600);

LoaderOptions PlaybackOptions() {
  LoaderOptions options{.fields = SmallFields(), .batch_size = 10, .seed = 17, .threads = 2};
  options.on_bad_record = OnBadRecord::kSubstitute;
  options.max_bad_share = 0.1;
  return options;
}

void Ask(const Loader& loader, LoaderMode mode, std::chrono::nanoseconds duration = kLong) {
  RequestMode(::getpid(), loader.stats().number, mode, duration);
}

class Experiment : public testing::TestWithParam<LoaderMode> {};

TEST_P(Experiment, LiveGoesOnExactlyWhereItWas) {
  const SmallSplit split(57);
  split.Damage(25);
  const Dataset dataset = Dataset::Open(split.folder());
  Loader whole(dataset, PlaybackOptions());
  const auto expected = Take(whole, 20);
  for (size_t cut = 0; cut < 12; ++cut) {  // including the end of an epoch
    Loader loader(dataset, PlaybackOptions());
    auto taken = Take(loader, cut);
    const std::string token = loader.Token();
    Ask(loader, GetParam());
    for (int i = 0; i < 23; ++i) {
      const auto batch = loader.Next();
      ASSERT_TRUE(batch) << "an experiment has no end of an epoch";
      EXPECT_FALSE(batch->live());
      EXPECT_EQ(batch->token(), token);
    }
    EXPECT_EQ(loader.Token(), token);
    Ask(loader, LoaderMode::kLive);
    for (auto& each : Take(loader, 20 - cut)) taken.push_back(std::move(each));
    EXPECT_EQ(taken, expected) << cut;
    EXPECT_EQ(loader.substitutions().size(), whole.substitutions().size());
    EXPECT_EQ(loader.stats().replayed, 23u);
    EXPECT_EQ(loader.stats().mode, LoaderMode::kLive);
  }
}

TEST_P(Experiment, EndsWithItsTime) {
  const SmallSplit split(60);
  Loader loader(Dataset::Open(split.folder()), PlaybackOptions());
  Ask(loader, GetParam(), std::chrono::nanoseconds(0));
  EXPECT_TRUE(loader.Next()->live());
  EXPECT_EQ(loader.stats().requested, LoaderMode::kLive);
}

TEST_P(Experiment, BatchesOfItOutliveIt) {
  const SmallSplit split(60);
  std::vector<Batch> held;
  std::vector<std::vector<uint8_t>> bytes;
  const auto copy = [](const Batch& batch) {
    const auto* begin = static_cast<const uint8_t*>(batch.Raw(0));
    return std::vector<uint8_t>(begin, begin + batch.arrays()[0].sample_bytes * batch.size());
  };
  {
    Loader loader(Dataset::Open(split.folder()), PlaybackOptions());
    Settled(loader);
    Ask(loader, GetParam());
    for (int i = 0; i < 2; ++i) {
      held.push_back(*loader.Next());
      bytes.push_back(copy(held.back()));
    }
    Ask(loader, LoaderMode::kLive);
    Take(loader, 2);  // their slabs are not reused while an experiment's batch holds them
  }
  for (size_t i = 0; i < held.size(); ++i) EXPECT_EQ(copy(held[i]), bytes[i]);
}

TEST_P(Experiment, CanBeLeftByDestruction) {
  const SmallSplit split(60);
  for (int i = 0; i < 20; ++i) {
    Loader loader(Dataset::Open(split.folder()), PlaybackOptions());
    Ask(loader, GetParam());
    for (int taken = 0; taken < i; ++taken) loader.Next();
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Experiment,
                         testing::Values(LoaderMode::kReplay, LoaderMode::kReplayAndWork,
                                         LoaderMode::kSynthetic));

TEST(Playback, RepeatsTheReadyBatchesInTurn) {
  const SmallSplit split(60);
  const Dataset dataset = Dataset::Open(split.folder());
  Loader loader(dataset, PlaybackOptions());
  Loader live(dataset, PlaybackOptions());
  const auto expected = Take(live, 4);
  Settled(loader);
  Ask(loader, LoaderMode::kReplay);
  const auto taken = Take(loader, 12);
  for (size_t i = 0; i < taken.size(); ++i) {
    EXPECT_EQ(taken[i].ids, expected[i % 4].ids);
    EXPECT_EQ(taken[i].bytes, expected[i % 4].bytes);
  }
  const LoaderStats stats = loader.stats();
  EXPECT_EQ(stats.mode, LoaderMode::kReplay);
  EXPECT_EQ(stats.held_back, 4u);
  EXPECT_EQ(stats.batches, 0u) << "none of them was live";
}

TEST(Playback, TheWorkersAreIdle) {
  const SmallSplit split(60);
  Loader loader(Dataset::Open(split.folder()), PlaybackOptions());
  Settled(loader);
  for (const LoaderMode mode : {LoaderMode::kReplay, LoaderMode::kSynthetic}) {
    Ask(loader, mode);
    Take(loader, 50);
    const LoaderStats stats = Settled(loader);
    EXPECT_EQ(stats.Total(Stage::kRead).count, 40u) << "what fills the ring";
    EXPECT_EQ(stats.thrown_chunks, 0u);
  }
}

TEST(Playback, TheWorkersMakeABatchForEachOneAndThrowItAway) {
  const SmallSplit split(60);
  Loader loader(Dataset::Open(split.folder()), PlaybackOptions());
  const uint64_t filled = Settled(loader).Total(Stage::kRead).count;
  Ask(loader, LoaderMode::kReplayAndWork);
  Take(loader, 1);
  // A batch has at most 8 chunks of 2 samples; 10 samples are 5 chunks.
  LoaderStats stats = loader.stats();
  while (stats.thrown_chunks < 5) stats = loader.stats();
  stats = Settled(loader);
  EXPECT_EQ(stats.thrown_chunks, 5u);
  EXPECT_EQ(stats.Total(Stage::kRead).count - filled, 10u);
  Take(loader, 3);
  while (stats.thrown_chunks < 20) stats = loader.stats();
  EXPECT_EQ(Settled(loader).thrown_chunks, 20u);
}

TEST(Playback, MadeUpBatchesHaveUsableValues) {
  const SmallSplit split(60);
  Loader loader(Dataset::Open(split.folder()), PlaybackOptions());
  Ask(loader, LoaderMode::kSynthetic);
  const auto batch = loader.Next();
  ASSERT_EQ(batch->size(), 10u);
  const float* pixels = batch->Data<float>("image");
  for (size_t i = 0; i < 10 * 192; ++i) ASSERT_TRUE(pixels[i] >= 0.5F && pixels[i] < 1);
  EXPECT_NE(pixels[0], pixels[1]);
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(batch->Data<int64_t>("label")[i], 0);
  EXPECT_EQ(loader.Next()->Raw(0), batch->Raw(0)) << "one, again and again";
}

TEST(Playback, AFailureThatIsNextIsNotHidden) {
  const SmallSplit split(60);
  split.Damage(0);
  LoaderOptions options = PlaybackOptions();
  options.on_bad_record = OnBadRecord::kFail;
  options.order = ParseOrder("sequential");
  Loader loader(Dataset::Open(split.folder()), options);
  Ask(loader, LoaderMode::kReplay);
  EXPECT_THROW(loader.Next(), Error);
}

TEST(Playback, AnotherProcessMayAsk) {
  const SmallSplit split(60);
  Loader loader(Dataset::Open(split.folder()), PlaybackOptions());
  Settled(loader);
  EXPECT_EQ(InChild([&] {
              RequestMode(::getppid(), loader.stats().number, LoaderMode::kReplay, kLong);
              return true;
            }),
            0);
  EXPECT_FALSE(loader.Next()->live());
}

}  // namespace
}  // namespace recpack

#include "recpack/loader/stats.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "recpack/base/clock.h"
#include "recpack/base/error.h"
#include "src/loader/batch/stats_page.h"
#include "src/loader/run/consumer_account.h"
#include "tests/base/forked.h"
#include "tests/loader/settled.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

using testing::HasSubstr;

LoaderOptions StatsOptions(uint32_t batch, int threads = 2) {
  return {.fields = SmallFields(), .batch_size = batch, .seed = 17, .threads = threads};
}

TEST(Stats, CountWhatWasDone) {
  const SmallSplit split(203);
  Loader loader(Dataset::Open(split.folder()), StatsOptions(10));
  Take(loader, 25);  // 20, and 5 of the next epoch
  const LoaderStats stats = Settled(loader);
  EXPECT_EQ(stats.batches, 25u);
  EXPECT_EQ(stats.samples, 250u);
  EXPECT_EQ(stats.epochs, 1u);
  EXPECT_EQ(stats.batch_size, 10u);
  EXPECT_EQ(stats.ready, 4u);
  EXPECT_EQ(stats.held, 0u);
  ASSERT_EQ(stats.workers.size(), 2u);
  const uint64_t made = 290;
  for (const Stage stage : {Stage::kRead, Stage::kParse, Stage::kWrite}) {
    EXPECT_EQ(stats.Total(stage).count, made) << StageName(stage);
    EXPECT_GT(stats.Total(stage).time.count(), 0) << StageName(stage);
  }
  EXPECT_EQ(stats.Total(Stage::kWrite).bytes, made * (3 * 8 * 8 * 4 + 8));
  EXPECT_GE(stats.Total(Stage::kRead).bytes, made * 192);
  EXPECT_EQ(stats.Total(Stage::kDecode).count, 0u) << "raw pictures are not decoded";
  // All of a worker's time is attributed.
  for (const WorkerStats& worker : stats.workers) {
    std::chrono::nanoseconds sum{0};
    for (const StageStats& stage : worker.stages) sum += stage.time;
    EXPECT_GT(sum, stats.age / 2);
    EXPECT_LE(sum, stats.age + std::chrono::seconds(1));
  }
}

// Stops a worker after it made a batch ready and before it counted it.
TEST(Stats, WhatIsReadyIsNeverBelowNone) {
  StatsPage page({.workers = 1, .slots = 2, .batch_size = 8, .batch_bytes = 64});
  ConsumerAccount account(page.blocks());
  account.Give(8, account.Ready());
  EXPECT_EQ(account.Ready(), 0u);
  page.blocks().ring.written = 3;
  EXPECT_EQ(account.Ready(), 2u);
}

TEST(Stats, WaitsThatLastAreCountedUpToNow) {
  const SmallSplit split(60);
  Loader loader(Dataset::Open(split.folder()), StatsOptions(10));
  const auto first = Settled(loader).Total(Stage::kRoom).time;
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto slept = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(loader.stats().Total(Stage::kRoom).time - first, 2 * slept) << "two workers wait";
}

TEST(Stats, HeldBatchesAreCounted) {
  const SmallSplit split(60);
  Loader loader(Dataset::Open(split.folder()), StatsOptions(10));
  {
    const auto one = loader.Next();
    const auto two = loader.Next();
    const LoaderStats stats = Settled(loader);
    EXPECT_EQ(stats.held, 2u);
    EXPECT_EQ(stats.ready, 2u);
  }
  const LoaderStats stats = Settled(loader);
  EXPECT_EQ(stats.held, 0u);
  EXPECT_EQ(stats.ready, 4u);
}

TEST(Stats, AnotherProcessReadsThem) {
  const SmallSplit split(203);
  const Dataset dataset = Dataset::Open(split.folder());
  Loader first(dataset, StatsOptions(10));
  Loader second(dataset, StatsOptions(20, 1));
  Take(first, 3);
  const uint64_t made = Settled(first).Total(Stage::kRead).count;
  Settled(second);
  EXPECT_EQ(InChild([&] {
              const StatsReading reading = ReadStats(::getppid());
              return reading.unavailable.empty() && reading.loaders.size() == 2 &&
                     reading.loaders[0].batches == 3 && reading.loaders[0].samples == 30 &&
                     reading.loaders[0].Total(Stage::kRead).count == made &&
                     reading.loaders[1].workers.size() == 1 &&
                     reading.loaders[1].number == reading.loaders[0].number + 1;
            }),
            0);
}

TEST(Stats, AForkedChildDoesNotPassForItsParent) {
  const SmallSplit split(60);
  Loader loader(Dataset::Open(split.folder()), StatsOptions(10));
  Settled(loader);
  EXPECT_EQ(InChild([&] {
              const StatsReading own = ReadStats(::getpid());
              return own.loaders.empty() && own.unavailable.find("no loader") != std::string::npos;
            }),
            0);
}

TEST(Stats, AreGoneWithTheLoader) {
  const SmallSplit split(60);
  std::optional<Batch> held;
  {
    Loader loader(Dataset::Open(split.folder()), StatsOptions(10));
    EXPECT_EQ(ReadStats(::getpid()).loaders.size(), 1u);
    held = loader.Next();
  }
  const StatsReading reading = ReadStats(::getpid());
  EXPECT_EQ(reading.loaders.size(), 0u);
  EXPECT_THAT(reading.unavailable, HasSubstr("no loader"));
}

TEST(Stats, ReasonsWhyThereAreNone) {
  EXPECT_THAT(ReadStats(999'999'999).unavailable, HasSubstr("no process"));
  EXPECT_THROW(RequestMode(::getpid(), 0, LoaderMode::kReplay, std::chrono::seconds(1)), Error);
}

TEST(Stats, WithoutAFileOnlyTheOwnProcessReadsThem) {
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{3, before.rlim_max};  // no more descriptors
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  StatsPage page({.workers = 2, .slots = 4, .batch_size = 8, .batch_bytes = 1});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(page.published());
  page.blocks().worker(1).stages[0].count = 5;
  EXPECT_EQ(Snapshot(page.blocks(), 0).workers[1].stages[0].count, 5u);
  EXPECT_THAT(ReadStats(::getpid()).unavailable, HasSubstr("no loader"));
}

TEST(Stats, ReadersSeeABlockWholeOrNotAtAll) {
  StatsPage page({.workers = 1, .slots = 4, .batch_size = 1, .batch_bytes = 1});
  ASSERT_TRUE(page.published());
  std::jthread writer([&](const std::stop_token& stop) {
    WorkerBlock& block = page.blocks().worker(0);
    for (uint64_t i = 1; !stop.stop_requested(); ++i) {
      {
        const PageWrite write(block.sequence);
        for (StageWords& stage : block.stages) {
          PageWrite::Set(stage.count, i);
          PageWrite::Set(stage.bytes, i);
        }
      }
      for (int pause = 0; pause < 50; ++pause) std::atomic_signal_fence(std::memory_order_seq_cst);
    }
  });
  constexpr uint64_t kPatience = 200'000'000;  // ns: how long readers wait for a preempted writer
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t begin = MonotonicNow();
    const WorkerStats worker = Snapshot(page.blocks(), 0).workers[0];
    if (MonotonicNow() - begin >= kPatience) continue;  // the reader may have given up
    for (const StageStats& stage : worker.stages) {
      ASSERT_EQ(stage.count, worker.stages[0].count);
      ASSERT_EQ(stage.bytes, worker.stages[0].count);
    }
  }
}

// Invalid pages: too short, of another version, or able to shrink under their reader.
TEST(Stats, OtherPagesAreUnavailable) {
  for (const auto& [bytes, seals, version] : {std::tuple{size_t{10}, F_SEAL_SHRINK, kStatsVersion},
                                              {size_t{4096}, F_SEAL_SHRINK, kStatsVersion + 1},
                                              {size_t{4096}, 0, kStatsVersion},
                                              {size_t{384}, F_SEAL_SHRINK, kStatsVersion}}) {
    const int file = ::memfd_create(kStatsName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ASSERT_GE(file, 0);
    StatsBlocks blocks = {};
    blocks.header.magic = kStatsMagic;
    blocks.header.version = version;
    blocks.header.stages = kStages;
    blocks.header.workers = 1;
    blocks.header.worker_bytes = sizeof(WorkerBlock);
    blocks.header.process = static_cast<uint32_t>(::getpid());
    ASSERT_GT(::write(file, &blocks, sizeof(blocks)), 0);
    ASSERT_EQ(::ftruncate(file, static_cast<off_t>(bytes)), 0);
    ASSERT_EQ(::fcntl(file, F_ADD_SEALS, seals), 0);
    const StatsReading reading = ReadStats(::getpid());
    EXPECT_TRUE(reading.loaders.empty()) << bytes << " " << seals << " " << version;
    EXPECT_THAT(reading.unavailable, HasSubstr("another version"));
    ::close(file);
  }
}

}  // namespace
}  // namespace recpack

// Failures of the device, the loader and the consumer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "recpack/base/error.h"
#include "recpack/loader/stats.h"
#include "tests/base/error_of.h"
#include "tests/base/other_threads.h"
#include "tests/device/feeding.h"
#include "tests/loader/stuck_files.h"

namespace recpack {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Mode = FakeRuntime::Mode;

// Feeds two devices for a little more than an epoch. Ends with the epoch or an error.
void Feed(const Dataset& dataset, FakeRuntime& fake) {
  DeviceFeeder feeder(dataset, SmallOptions(), {.runtime = &fake, .devices = {0, 1}, .depth = 2});
  Consumer consumer(feeder, fake);
  while (consumer.Take(0) && consumer.Take(1)) continue;
  consumer.Seens();
}

TEST(FeederFailures, EveryCallThatFailsIsNamedAndNothingLeaks) {
  const SmallSplit split(103);
  const Dataset dataset = Dataset::Open(split.folder());
  for (const char* call : {"cudaMalloc", "cudaHostRegister", "cudaStreamCreateWithFlags",
                           "cudaEventCreateWithFlags", "cudaEventRecord", "cudaStreamWaitEvent",
                           "cudaEventSynchronize", "cudaMemcpyAsync", "finish"}) {
    int failed = 0;
    for (int nth = 0; nth < 12; ++nth) {
      FakeRuntime fake(2, Mode::kLazy);
      fake.FailCall(call, nth);
      try {
        Feed(dataset, fake);
      } catch (const Error& error) {
        ++failed;
        EXPECT_EQ(error.kind(), ErrorKind::kDevice);
        EXPECT_THAT(error.what(), HasSubstr(call));
        EXPECT_THAT(error.what(), HasSubstr("a failure that was asked for"));
      }
      EXPECT_EQ(fake.leaks(), "") << call << " " << nth;
      EXPECT_THAT(fake.violations(), IsEmpty()) << call << " " << nth;
    }
    EXPECT_GT(failed, 0) << call;
  }
}

TEST(FeederFailures, AnErrorIsGivenToEveryCallFromThereOn) {
  const SmallSplit split(103);
  FakeRuntime fake(1, Mode::kLazy);
  fake.FailCall("cudaMemcpyAsync", 3);
  DeviceFeeder feeder(Dataset::Open(split.folder()), SmallOptions(), {.runtime = &fake});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(feeder.Next()) << "brought before it";
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(ErrorOf([&] { feeder.Next(); }).what(), HasSubstr("cudaMemcpyAsync on device 0"));
  }
}

TEST(FeederFailures, MemoryThatIsNotThereIsAnErrorThatSaysWhatToLower) {
  const SmallSplit split(103);
  const Dataset dataset = Dataset::Open(split.folder());
  FakeRuntime fake(1, Mode::kLazy, 40'000);  // one slot takes at least 8 * 192 * (1 + 4) bytes
  const Error error =
      ErrorOf([&] { DeviceFeeder(dataset, SmallOptions(), {.runtime = &fake, .depth = 9}); });
  EXPECT_EQ(error.kind(), ErrorKind::kDevice);
  EXPECT_THAT(error.what(), HasSubstr("out of memory"));
  EXPECT_THAT(error.what(), HasSubstr("lower the feeder's `depth` or the batch size"));
  EXPECT_EQ(fake.leaks(), "");
  DeviceFeeder smaller(dataset, SmallOptions(), {.runtime = &fake, .depth = 2});
  EXPECT_TRUE(smaller.Next());
}

TEST(FeederFailures, WhatTheLoaderThrowsComesBehindTheBatchesBeforeIt) {
  const SmallSplit split(103);
  split.Damage(50);
  const Dataset dataset = Dataset::Open(split.folder());
  LoaderOptions options = SmallOptions();
  options.order.kind = OrderKind::kSequential;
  FakeRuntime fake(1, Mode::kThreads);
  DeviceFeeder feeder(dataset, options, {.runtime = &fake});
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(feeder.Next());
  const Error error = ErrorOf([&] { feeder.Next(); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(error.what(), HasSubstr("train-00001-of-00003.tfrecord"));
}

TEST(FeederFailures, AFeederMayBeDestroyedAtAnyTime) {
  const SmallSplit split(103);
  const Dataset dataset = Dataset::Open(split.folder());
  for (const Mode mode : {Mode::kLazy, Mode::kThreads}) {
    for (int taken = 0; taken < 20; ++taken) {
      FakeRuntime fake(2, mode);
      {
        DeviceFeeder feeder(dataset, SmallOptions(), {.runtime = &fake, .devices = {0, 1}});
        Consumer consumer(feeder, fake);
        for (int i = 0; i < taken; ++i) consumer.Take(static_cast<size_t>(i % 2));
      }
      EXPECT_THAT(fake.violations(), IsEmpty()) << taken;
      EXPECT_EQ(fake.leaks(), "") << taken;
    }
  }
}

// The feeder ends at once; only its loader waits for the disk.
TEST(FeederFailures, AFeederThatGoesWaitsForNoBatch) {
  const SmallSplit split(60);
  LoaderOptions options = SmallOptions();
  options.order.kind = OrderKind::kSequential;
  options.source.backend = RandomAccessOptions::Backend::kPread;
  const DeviceFeederOptions host{.runtime = nullptr};
  for (const bool own_loader : {true, false}) {
    StuckFiles files(split.shard(0));
    const Dataset dataset = Dataset::Open(split.folder(), {.files = &files});
    auto feeder = own_loader ? std::make_unique<DeviceFeeder>(dataset, options, host)
                             : std::make_unique<DeviceFeeder>(
                                   std::make_unique<Loader>(dataset, options), host);
    AwaitRest();  // stuck
    ASSERT_EQ(ReadStats(::getpid()).loaders.size(), 1u);
    const std::jthread owner([&] { feeder.reset(); });
    while (!ReadStats(::getpid()).loaders.empty()) std::this_thread::yield();
    files.LetGo();
  }
}

TEST(FeederFailures, ABatchMayOutliveItsFeeder) {
  const SmallSplit split(103);
  const Dataset dataset = Dataset::Open(split.folder());
  const auto expected = FromLoader(dataset, SmallOptions(), 1);
  for (const Mode mode : {Mode::kLazy, Mode::kThreads}) {
    FakeRuntime fake(1, mode);
    const DeviceStream stream = fake.CreateStream(0);
    auto feeder = std::make_unique<DeviceFeeder>(dataset, SmallOptions(),
                                                 DeviceFeederOptions{.runtime = &fake});
    auto batch = feeder->Next();
    feeder.reset();
    batch->OnStream(stream);
    const auto image =
        fake.Read(0, batch->Raw("image"), batch->arrays()[0].sample_bytes * 8, stream);
    batch.reset();
    EXPECT_EQ(std::memcmp(image->data(), expected[0].bytes.data(), image->size()), 0);
    fake.DestroyStream(0, stream);
    EXPECT_THAT(fake.violations(), IsEmpty());
    EXPECT_EQ(fake.leaks(), "");
  }
  auto feeder = std::make_unique<DeviceFeeder>(dataset, SmallOptions(),
                                               DeviceFeederOptions{.runtime = nullptr});
  auto batch = feeder->Next();
  feeder.reset();
  EXPECT_EQ(std::memcmp(batch->Raw("image"), expected[0].bytes.data(), 1000), 0);
}

TEST(FeederFailures, AConsumerThatHoldsAllItsBatchesIsTold) {
  const SmallSplit split(103);
  const Dataset dataset = Dataset::Open(split.folder());
  FakeRuntime fake(1, Mode::kThreads);
  for (DeviceRuntime* runtime :
       {static_cast<DeviceRuntime*>(&fake), static_cast<DeviceRuntime*>(nullptr)}) {
    DeviceFeeder feeder(dataset, SmallOptions(), {.runtime = runtime, .depth = 2});
    std::vector<std::optional<DeviceBatch>> held;
    for (int i = 0; i < 2; ++i) held.push_back(feeder.Next());
    const Error error = ErrorOf([&] { feeder.Next(); });
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("all 2 batches are held"));
    held.pop_back();
    EXPECT_TRUE(feeder.Next());
  }
}

// Returns what `feed` throws if nothing comes for a stall_timeout. If the loader's own threads do
// not get that far within one, as on a busy machine, tries again with twice the time.
template <typename Feed>
Error StallOf(const Feed& feed) {
  LoaderOptions options = SmallOptions();
  for (options.stall_timeout = std::chrono::milliseconds(500);; options.stall_timeout *= 2) {
    const Error error = ErrorOf([&] { feed(options); });
    const bool of_loader = error.advice().ends_with("or raise `stall_timeout`");
    if (!of_loader || options.stall_timeout > std::chrono::minutes(1)) return error;
  }
}

// On the host a batch is the loader's own memory, which is used in turn.
TEST(FeederFailures, AConsumerThatKeepsAnOldBatchIsNamed) {
  const SmallSplit split(403);
  const auto keep_first_of = [&](size_t keeper) {
    return StallOf([&](const LoaderOptions& options) {
      DeviceFeeder feeder(Dataset::Open(split.folder()), options,
                          {.runtime = nullptr, .devices = {0, 1}, .depth = 3});
      std::optional<DeviceBatch> kept;
      for (int step = 0; step < 40; ++step) {
        for (size_t i = 0; i < 2; ++i) {
          auto batch = feeder.Next(i);
          if (i == keeper && !kept) kept = std::move(batch);
        }
      }
    });
  };
  const Error own = keep_first_of(0), others = keep_first_of(1);
  EXPECT_EQ(own.kind(), ErrorKind::kInvalidArgument);
  EXPECT_THAT(own.what(), HasSubstr("the consumer at index 0 holds one that is 7 batches"));
  EXPECT_EQ(others.kind(), ErrorKind::kIo);
  EXPECT_THAT(others.what(), HasSubstr("the consumer at index 1 holds one"));
}

TEST(FeederFailures, AConsumerThatTakesNothingIsNamed) {
  const SmallSplit split(103);
  FakeRuntime fake(2, Mode::kThreads);
  const Error error = StallOf([&](const LoaderOptions& options) {
    DeviceFeeder feeder(Dataset::Open(split.folder()), options,
                        {.runtime = &fake, .devices = {0, 1}, .depth = 2});
    EXPECT_THROW(feeder.Next(2), Error) << "there are two";
    for (int i = 0; i < 3; ++i) feeder.Next(0);
  });
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_THAT(error.what(), HasSubstr("the consumer at index 1 takes none and has 2 waiting"));
}

}  // namespace
}  // namespace recpack

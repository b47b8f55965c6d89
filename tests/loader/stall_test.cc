// Stalled loaders, and loaders that are idle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>

#include "recpack/loader/loader.h"
#include "tests/base/error_of.h"
#include "tests/base/forked.h"
#include "tests/base/other_threads.h"
#include "tests/base/sanitizers.h"
#include "tests/loader/settled.h"
#include "tests/loader/small_split.h"
#include "tests/loader/stuck_files.h"

namespace recpack {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

LoaderOptions StallOptions(uint32_t batch, milliseconds timeout) {
  LoaderOptions options{.fields = SmallFields(), .batch_size = batch, .threads = 2};
  options.order = ParseOrder("sequential");
  options.source.backend = RandomAccessOptions::Backend::kPread;
  options.stall_timeout = timeout;
  return options;
}

// Checks that waiting threads sleep: polling threads wake up in every window, however slow the
// machine is, and preempted threads do not count as sleeping.
bool TheOthersSleep() {
  for (int windows = 0; windows < 200; ++windows) {
    if (OthersSleptFor(milliseconds(50))) return true;
    std::this_thread::sleep_for(milliseconds(50));  // lets running work finish
  }
  return false;
}

TEST(Stall, NamesTheRecordAndTheStageAndCanBeLeft) {
  const SmallSplit split(60);
  StuckFiles files(split.shard(1));
  Loader loader(Dataset::Open(split.folder(), {.files = &files}),
                StallOptions(10, milliseconds(50)));
  AwaitRest();  // stuck
  loader.Next();
  loader.Next();  // the first shard
  const Error error = ErrorOf([&] { loader.Next(); });
  EXPECT_EQ(error.kind(), ErrorKind::kIo);
  EXPECT_EQ(error.place().path, split.shard(1));
  ASSERT_TRUE(error.place().ordinal);
  EXPECT_THAT(error.what(), HasSubstr("no batch for 50 ms"));
  EXPECT_THAT(error.what(), HasSubstr("reads record"));
  EXPECT_THAT(error.what(), HasSubstr("stage read"));
  EXPECT_THAT(error.what(), HasSubstr("stall_timeout"));
}  // destroys the loader while its readers are stuck

TEST(Stall, WhoWaitsMayLookElsewhere) {
  const SmallSplit split(60);
  StuckFiles files(split.shard(1));
  LoaderOptions options = StallOptions(10, std::chrono::minutes(5));
  int looks = 0;
  options.while_waiting = [&] {
    if (++looks == 3) throw std::runtime_error("a signal came");
  };
  Loader expected(Dataset::Open(split.folder()), StallOptions(10, std::chrono::minutes(5)));
  Loader loader(Dataset::Open(split.folder(), {.files = &files}), options);
  AwaitRest();  // stuck
  auto taken = Take(loader, 2);
  EXPECT_EQ(looks, 0);
  EXPECT_THROW(loader.Next(), std::runtime_error);
  EXPECT_EQ(looks, 3);
  std::jthread disk([&] { files.LetGo(); });
  for (auto& batch : Take(loader, 4)) taken.push_back(std::move(batch));
  EXPECT_EQ(taken, Take(expected, 6));
}

TEST(Stall, ALoaderGoesOnWhereTheDiskDoes) {
  const SmallSplit split(60);
  StuckFiles files(split.shard(1));
  Loader expected(Dataset::Open(split.folder()), StallOptions(10, std::chrono::minutes(5)));
  Loader loader(Dataset::Open(split.folder(), {.files = &files}),
                StallOptions(10, milliseconds(50)));
  AwaitRest();  // stuck
  auto taken = Take(loader, 2);
  EXPECT_THROW(loader.Next(), Error);
  std::jthread disk([&] { files.LetGo(); });
  while (taken.size() < 6) {
    try {
      for (auto& batch : Take(loader, 1)) taken.push_back(std::move(batch));
    } catch (const Error&) {  // not yet
    }
  }
  EXPECT_EQ(taken, Take(expected, 6));
}

TEST(Stall, WhoIsToldToWaitsNoMore) {
  const SmallSplit split(60);
  for (const bool looks : {false, true}) {
    StuckFiles files(split.shard(1));
    LoaderOptions options = StallOptions(10, std::chrono::minutes(5));
    if (looks) options.while_waiting = [] {};
    Loader loader(Dataset::Open(split.folder(), {.files = &files}), options);
    auto taken = Take(loader, 2);
    {
      const std::jthread other([&, consumer = ::gettid()] {
        AwaitSleepOf(consumer);
        loader.WaitNoMore();
      });
      const Error error = ErrorOf([&] { loader.Next(); });
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      EXPECT_THAT(error.what(), HasSubstr("told to stop waiting"));
    }
    EXPECT_THROW(loader.Next(), Error);
    files.LetGo();
    Settled(loader);
    EXPECT_EQ(Take(loader, 1).front().ids.front(), 20u) << "what is there is given";
  }
}

// A deadline beyond the clock's range would expire at once, and readers would be abandoned.
TEST(Stall, NoTimeoutIsTooLong) {
  const SmallSplit split(60);
  StuckFiles files(split.shard(0));
  auto loader = std::make_unique<Loader>(Dataset::Open(split.folder(), {.files = &files}),
                                         StallOptions(10, milliseconds::max()));
  AwaitRest();  // stuck
  std::atomic<bool> gone = false;
  const std::jthread owner([&] {
    loader.reset();
    gone = true;
  });
  AwaitRest();
  EXPECT_FALSE(gone);
  files.LetGo();
}

// Like a suspended job or container: its workers cannot make progress meanwhile.
TEST(Stall, AProcessThatWasStoppedHasItsTimeAgain) {
  const SmallSplit split(60);
  EXPECT_EQ(InChild([&] {
              const int resumed = StopInAMoment(8);
              StuckFiles files(split.shard(0));
              Loader loader(Dataset::Open(split.folder(), {.files = &files}),
                            StallOptions(10, milliseconds(5000)));
              const std::jthread disk([&] {
                char byte = 0;
                if (::read(resumed, &byte, 1) == 1) files.LetGo();
              });
              return loader.Next().has_value();
            }),
            0);
}

// Its readers would be abandoned, with what they use.
TEST(Stall, ALoaderThatGoesWhileTheProcessIsStoppedJoinsItsReaders) {
  const SmallSplit split(60);
  EXPECT_EQ(InChild([&] {
              StuckFiles files(split.shard(0));
              std::optional<Loader> loader;
              loader.emplace(Dataset::Open(split.folder(), {.files = &files}),
                             StallOptions(10, milliseconds(5000)));
              AwaitRest();  // stuck
              const int resumed = StopInAMoment(8);
              std::atomic<bool> let_go = false;
              const std::jthread disk([&] {
                char byte = 0;
                if (::read(resumed, &byte, 1) != 1) return;
                std::this_thread::sleep_for(milliseconds(300));
                let_go = true;
                files.LetGo();
              });
              loader.reset();
              return let_go.load();
            }),
            0);
}

TEST(Idle, WhoWaitsForTheDiskSleeps) {
  const SmallSplit split(60);
  StuckFiles files(split.shard(0));
  Loader loader(Dataset::Open(split.folder(), {.files = &files}),
                StallOptions(10, std::chrono::minutes(5)));
  std::jthread consumer([&] { EXPECT_TRUE(loader.Next()); });
  EXPECT_TRUE(TheOthersSleep());
  files.LetGo();
}

TEST(Idle, WhoWaitsForRoomSleeps) {
  const SmallSplit split(60);
  Loader loader(Dataset::Open(split.folder()), StallOptions(10, std::chrono::minutes(5)));
  Settled(loader);
  EXPECT_TRUE(TheOthersSleep());
}

TEST(Idle, AtAnEpochsEndTheNextEpochIsAlreadyThere) {
  const SmallSplit split(60);
  Loader loader(Dataset::Open(split.folder()), StallOptions(10, std::chrono::minutes(5)));
  Take(loader, 6);
  const LoaderStats before = Settled(loader);
  EXPECT_EQ(before.ready, before.slots);
  EXPECT_FALSE(loader.Next());
  EXPECT_EQ(loader.Next()->epoch(), 1u);
  EXPECT_EQ(loader.stats().waits, before.waits);
}

TEST(Fork, AChildIsToldAndCanLetGo) {
  if (kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer lets no forked child start threads";
  const SmallSplit split(60);
  std::optional<Loader> loader;
  loader.emplace(Dataset::Open(split.folder()), StallOptions(10, std::chrono::minutes(5)));
  auto held = loader->Next();
  Settled(*loader);
  EXPECT_EQ(InChild([&] {
              try {
                loader->Next();
                return false;
              } catch (const Error& error) {
                if (std::string(error.what()).find("forked") == std::string::npos) return false;
              }
              held.reset();
              loader.reset();
              Loader own(Dataset::Open(split.folder()), StallOptions(10, std::chrono::minutes(5)));
              return own.Next().has_value() && ReadStats(::getpid()).loaders.size() == 1;
            }),
            0);
  EXPECT_EQ(loader->stats().held, 1u) << "what the child did is none of the parent's";
  held.reset();
  EXPECT_EQ(Take(*loader, 10).size(), 10u);
}

}  // namespace
}  // namespace recpack

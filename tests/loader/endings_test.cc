// Loaders that end early, are forked or lose their files: nothing hangs, crashes or leaks. Built
// with sanitizers, these tests also fail if memory is leaked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "src/base/format.h"
#include "tests/base/error_of.h"
#include "tests/base/forked.h"
#include "tests/base/other_threads.h"
#include "tests/base/sanitizers.h"
#include "tests/loader/settled.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;
using Backend = RandomAccessOptions::Backend;
using testing::HasSubstr;

constexpr Backend kBackends[] = {Backend::kPread, Backend::kMapped, Backend::kIoUring};

LoaderOptions BackendOptions(Backend backend = Backend::kAutomatic) {
  LoaderOptions options{.fields = SmallFields(), .batch_size = 8, .seed = 2, .threads = 3};
  options.source.backend = backend;
  return options;
}

size_t EntriesOf(const char* folder) {
  const fs::directory_iterator entries(folder);
  return static_cast<size_t>(std::distance(begin(entries), end(entries)));
}

size_t Threads() { return EntriesOf("/proc/self/task"); }

class Endings : public testing::TestWithParam<Backend> {
 protected:
  const SmallSplit split_{600};
  const Dataset dataset_ = Dataset::Open(split_.folder());
};

TEST_P(Endings, InMidEpochNothingIsLeftBehind) {
  const size_t threads = Threads();
  { Loader once(dataset_, BackendOptions(GetParam())); }  // creates per-process objects
  const size_t files = EntriesOf("/proc/self/fd");
  for (int i = 0; i < 40; ++i) {
    Loader loader(dataset_, BackendOptions(GetParam()));
    const auto taken = Take(loader, static_cast<size_t>(i % 8));
    if (i % 4 == 0) Settled(loader);  // all workers wait for room
    EXPECT_GT(Threads(), threads);
  }
  AwaitThreads(threads);
  EXPECT_EQ(EntriesOf("/proc/self/fd"), files);
}

TEST_P(Endings, OpenFilesAreNotMoreWithMoreThreads) {
  constexpr size_t kOpenFiles = 10, kThreads = 8;
  constexpr size_t kOthers = 1 + kThreads;  // the statistics page, and a ring per thread
  const SmallSplit split(600, 100);
  LoaderOptions options = BackendOptions(GetParam());
  options.threads = kThreads;
  options.source.max_open_files = kOpenFiles;
  const size_t files = EntriesOf("/proc/self/fd");
  Loader loader(Dataset::Open(split.folder()), options);
  Take(loader, 100);
  // Each thread may hold one more.
  EXPECT_LE(EntriesOf("/proc/self/fd"), files + kOpenFiles + kThreads + kOthers);
}

TEST_P(Endings, AConsumerThatStopsWithBatchesInItsHands) {
  const size_t threads = Threads();
  std::vector<Batch> held;
  std::vector<int64_t> labels;
  {
    Loader loader(dataset_, BackendOptions(GetParam()));
    for (int i = 0; i < 3; ++i) held.push_back(*loader.Next());
    for (const Batch& batch : held) labels.push_back(batch.Data<int64_t>("label")[7]);
    while (loader.stats().ready == 0) std::this_thread::yield();
  }
  AwaitThreads(threads);
  std::thread elsewhere([held = std::move(held), labels] {
    for (size_t i = 0; i < held.size(); ++i) {
      EXPECT_EQ(held[i].Data<int64_t>("label")[7], labels[i]);
    }
  });
  elsewhere.join();
}

// The shard is truncated step by step while workers read it, within pages and on their edges.
TEST_P(Endings, AShardCutUnderneathIsAnErrorWithItsPlace) {
  for (const uint64_t left : {20'000u, 4096u, 100u, 0u}) {
    SCOPED_TRACE(left);
    const SmallSplit split(600);
    LoaderOptions options = BackendOptions(GetParam());
    options.stall_timeout = std::chrono::minutes(2);
    Loader loader(Dataset::Open(split.folder()), options);
    Take(loader, 3);
    std::atomic<bool> cut = false;
    std::thread other([&] {
      fs::resize_file(split.shard(1), left);
      cut = true;
    });
    const Error error = ErrorOf([&] {
      for (size_t i = 0; i < 1000 || !cut; ++i) Take(loader, 1);
    });
    other.join();
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << error.what();
    EXPECT_EQ(error.place().path, split.shard(1)) << error.what();
    if (error.place().ordinal) {
      EXPECT_GE(*error.place().offset + 400, left) << "one of the records that are not whole";
    } else {  // a worker opened the shard after the cut
      EXPECT_THAT(error.what(), HasSubstr(format("has {} bytes, its index says", left)));
    }
    EXPECT_THROW(loader.Next(), Error);
  }
}

TEST_P(Endings, ARunThatSubstitutesGoesOnWithoutACutShard) {
  const SmallSplit split(600);
  LoaderOptions options = BackendOptions(GetParam());
  options.on_bad_record = OnBadRecord::kSubstitute;
  options.max_bad_share = 1;
  Loader loader(Dataset::Open(split.folder()), options);
  Take(loader, 3);
  fs::resize_file(split.shard(1), 5000);
  for (const Taken& batch : Take(loader, 200)) {
    if (batch.epoch == 0) continue;  // some were made before the cut
    for (const uint64_t id : batch.ids) EXPECT_TRUE(id < 220 || id >= 400) << id;
  }
  EXPECT_GT(loader.substitutions().size(), 150u);
}

// Forks while workers are busy and may hold any lock.
TEST_P(Endings, ForksWhileWorkersAreBusy) {
  if (kThreadSanitizer) {
    GTEST_SKIP() << "ThreadSanitizer lets no child of a process with threads start threads";
  }
  if (kAddressSanitizer) {
    // Seen with clang 14: the child waits in SizeClassAllocator64::GetFromAllocator().
    GTEST_SKIP() << "AddressSanitizer's allocator is forked with its locks held (before LLVM 18)";
  }
  const auto expected = [&] {
    Loader loader(dataset_, BackendOptions(GetParam()));
    return Take(loader, 200);
  }();
  std::optional<Loader> loader;
  loader.emplace(dataset_, BackendOptions(GetParam()));
  for (size_t i = 0; i < 20; ++i) {
    const auto batch = Take(*loader, 1);
    ASSERT_EQ(batch.front(), expected[i]);
    EXPECT_EQ(ForkedAtOnce([&] {
                if (i % 3 == 0) return true;  // ends at once
                if (i % 3 == 1) loader.reset();
                Loader own(dataset_, BackendOptions(GetParam()));
                return Take(own, 5) == std::vector(expected.begin(), expected.begin() + 5);
              }),
              0)
        << i;
  }
  const auto rest = Take(*loader, 180);
  EXPECT_EQ(rest, std::vector(expected.begin() + 20, expected.end()));
}

INSTANTIATE_TEST_SUITE_P(Loader, Endings, testing::ValuesIn(kBackends),
                         [](const auto& backend) { return BackendName(backend.param); });

}  // namespace
}  // namespace recpack

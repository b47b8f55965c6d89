// Batches held by the consumer: they do not change, the loader continues, and memory is reused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <semaphore>
#include <thread>

#include "recpack/base/random.h"
#include "tests/base/error_of.h"
#include "tests/base/forked.h"
#include "tests/base/sanitizers.h"
#include "tests/loader/settled.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

using testing::HasSubstr;

// Counts slabs. Overwrites slabs before freeing them, so that readers notice.
class CountingSlabs : public SlabAllocator {
 public:
  std::shared_ptr<void> Allocate(size_t bytes) override {
    if (made == most) throw std::bad_alloc();
    ++made;
    ++counts_->alive;
    std::shared_ptr<void> slab = HostSlabs().Allocate(bytes);
    return {slab.get(), [slab, bytes, counts = counts_](void* memory) mutable {
              std::fill_n(static_cast<uint8_t*>(memory), bytes, uint8_t{0xDD});
              slab.reset();
              --counts->alive;
            }};
  }

  int alive() const { return counts_->alive; }

  int made = 0;
  int most = 1000;

 private:
  struct Counts {
    std::atomic<int> alive = 0;
  };
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();  // may be outlived by slabs
};

class HeldBatches : public testing::Test {
 protected:
  LoaderOptions Options(uint32_t prefetch, uint32_t most) {
    LoaderOptions options{
        .fields = SmallFields(), .batch_size = 8, .seed = 3, .last_batch = LastBatch::kPad};
    options.threads = 3;
    options.prefetch = prefetch;
    options.max_live_batches = most;
    options.slabs = &slabs_;
    return options;
  }

  std::vector<Taken> Expected(size_t batches) {
    LoaderOptions options = Options(4, 0);
    options.slabs = nullptr;
    Loader loader(samples_, options);
    return recpack::Take(loader, batches);
  }

  static Batch Take(Loader& loader) {
    for (;;) {
      if (auto batch = loader.Next()) return std::move(*batch);
    }
  }

  static std::vector<Taken> TakenOf(const std::vector<Batch>& batches) {
    std::vector<Taken> taken;
    taken.reserve(batches.size());
    for (const Batch& batch : batches) taken.push_back(recpack::TakenOf(batch));
    return taken;
  }

  CountingSlabs slabs_;
  const SmallSplit split_{101};
  const SmallSplit other_{37, 2};
  // Several views and padding, so that ids, views and masks differ between batches.
  const Mixture samples_{{{Dataset::Open(split_.folder()), 3}, {Dataset::Open(other_.folder()), 1}},
                         {.period = 7}};
};

TEST_F(HeldBatches, AllThatAreAllowedStayWhatTheyAre) {
  for (const uint32_t prefetch : {2u, 3u, 9u}) {
    Loader loader(samples_, Options(prefetch, 30));
    std::vector<Batch> held;
    while (held.size() < 30) held.push_back(Take(loader));
    EXPECT_EQ(TakenOf(held), Expected(30)) << prefetch;
    EXPECT_EQ(loader.stats().held, 30u);
  }
}

TEST_F(HeldBatches, OneMoreIsAnErrorThatSaysHowMany) {
  Loader loader(samples_, Options(3, 5));
  std::vector<Batch> held;
  while (held.size() < 5) held.push_back(Take(loader));
  for (int i = 0; i < 2; ++i) {
    const Error error = ErrorOf([&] { loader.Next(); });
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(error.reason(), HasSubstr("holds 5 batches"));
    EXPECT_THAT(error.advice(), HasSubstr("raise `max_live_batches`"));
  }
  held.erase(held.begin() + 2);
  held.push_back(Take(loader));
  auto expected = Expected(6);
  expected.erase(expected.begin() + 2);
  EXPECT_EQ(TakenOf(held), expected);
}

TEST_F(HeldBatches, WithoutReplacementTheRingIsAllThereIs) {
  Loader loader(samples_, Options(3, 0));
  std::vector<Batch> held;
  while (held.size() < 3) held.push_back(Take(loader));
  EXPECT_THAT(ErrorOf([&] { loader.Next(); }).what(), HasSubstr("holds 3 of the loader's 3"));
  held.erase(held.begin() + 1, held.end());
  EXPECT_THAT(ErrorOf([&] { loader.Next(); }).what(), HasSubstr("holds 1 of the loader's 3"));
  held.clear();
  EXPECT_EQ(recpack::TakenOf(Take(loader)), Expected(4).back());
  EXPECT_EQ(slabs_.made, 3);
  EXPECT_EQ(loader.stats().slabs, 3u);
}

TEST_F(HeldBatches, APlainLoopTakesNoMoreThanTheRing) {
  Loader loader(samples_, Options(3, 30));
  for (int i = 0; i < 50; ++i) Take(loader);
  std::optional<Batch> last;
  for (int i = 0; i < 50; ++i)
    last = loader.Next();  // holds the last one while asking for the next
  EXPECT_EQ(slabs_.made, 3);
}

TEST_F(HeldBatches, MemoryIsUsedAgain) {
  const auto expected = Expected(400);
  Loader loader(samples_, Options(3, 30));
  std::deque<Batch> window;
  int made = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    window.push_back(Take(loader));
    if (window.size() > 6) window.pop_front();
    const size_t first = i + 1 - window.size();
    EXPECT_EQ(recpack::TakenOf(window.front()), expected[first]) << first;
    if (i == 20) made = slabs_.made;
  }
  EXPECT_EQ(slabs_.made, made);
  EXPECT_LE(made, 3 + 6);
  EXPECT_EQ(slabs_.alive(), made);
  EXPECT_EQ(loader.stats().slabs, static_cast<uint32_t>(made));
  EXPECT_EQ(loader.stats().held, 6u);
}

// If two slabs come back while the worker is busy, it uses the most recent one, or the one whose
// turn it is.
TEST_F(HeldBatches, WhichSlabComesNext) {
  for (const uint32_t most : {30u, 0u}) {
    std::counting_semaphore<> samples(0);  // samples that may be made
    std::atomic<int> begun = 0;
    LoaderOptions options = Options(3, most);
    options.threads = 1;
    options.fields.emplace_back(FunctionField{
        .arrays = {{.name = "gate", .type = ElementType::kU8}}, .call = [&](SampleView& sample) {
          ++begun;
          samples.acquire();
          *sample.out[0] = 0;
        }});
    Loader loader(samples_, options);
    const auto slab_of = [](const Batch& batch) { return batch.Raw(size_t{0}); };
    samples.release(16);
    std::optional<Batch> first = Take(loader), second = Take(loader);
    const void* const last = most == 0 ? slab_of(*first) : slab_of(*second);
    while (begun < 17) std::this_thread::yield();  // the third batch has its slab
    first.reset();
    second.reset();
    samples.release(1000);
    const Batch third = Take(loader);
    EXPECT_EQ(slab_of(Take(loader)), last) << most;
  }
}

TEST_F(HeldBatches, TheRingStaysFullWhileSomeAreHeld) {
  Loader loader(samples_, Options(3, 30));
  std::vector<Batch> held;
  while (held.size() < 10) held.push_back(Take(loader));
  EXPECT_EQ(Settled(loader).ready, 2u) << "all but the last one's place";
  EXPECT_EQ(slabs_.made, 3 + 9);
}

TEST_F(HeldBatches, LetGoInAnyOrder) {
  constexpr size_t kMost = 7;
  const auto expected = Expected(500);
  Loader loader(samples_, Options(4, kMost));
  KeyedRandom random(5, 0, 0);
  std::vector<std::pair<size_t, Batch>> held;
  for (size_t i = 0; i < expected.size(); ++i) {
    while (held.size() == kMost || (!held.empty() && random.NextBelow(3) == 0)) {
      const auto at = held.begin() + random.NextBelow(static_cast<uint32_t>(held.size()));
      ASSERT_EQ(recpack::TakenOf(at->second), expected[at->first]);
      held.erase(at);
    }
    held.emplace_back(i, Take(loader));
  }
  EXPECT_LE(slabs_.made, 4 + 6);
}

// Thread that takes batches from the main thread, checks and releases them.
class Readers {
 public:
  Readers(size_t threads, size_t most, const std::vector<Taken>& expected)
      : most_(most), expected_(expected) {
    threads_.reserve(threads);
    for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this, i] { Run(i); });
  }

  void Add(size_t number, Batch batch) {
    std::unique_lock lock(mutex_);
    ++out_;
    batches_.emplace_back(number, std::move(batch));
    changed_.notify_all();
    changed_.wait(lock, [&] { return out_ < most_; });
  }

  // Waits until all are read; returns how many differ from the expectation.
  int Wrong() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    threads_.clear();
    return wrong_;
  }

 private:
  void Run(size_t thread) {
    KeyedRandom random(7, 0, thread);
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return over_ || !batches_.empty(); });
      if (batches_.empty()) return;
      const auto at = batches_.begin() + random.NextBelow(static_cast<uint32_t>(batches_.size()));
      std::optional<std::pair<size_t, Batch>> own(std::move(*at));
      batches_.erase(at);
      lock.unlock();
      const bool same = TakenOf(own->second) == expected_[own->first];
      own.reset();
      lock.lock();
      wrong_ += same ? 0 : 1;
      --out_;
      changed_.notify_all();
    }
  }

  const size_t most_;
  const std::vector<Taken>& expected_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<size_t, Batch>> batches_;
  size_t out_ = 0;  // includes those being read
  bool over_ = false;
  int wrong_ = 0;
  std::vector<std::jthread> threads_;
};

TEST_F(HeldBatches, LetGoByOtherThreads) {
  constexpr size_t kMost = 6;
  const auto expected = Expected(1500);
  for (const uint32_t prefetch : {2u, 5u}) {
    const int before = slabs_.made;
    Loader loader(samples_, Options(prefetch, kMost));
    Readers readers(3, kMost, expected);
    for (size_t i = 0; i < expected.size(); ++i) readers.Add(i, Take(loader));
    EXPECT_EQ(readers.Wrong(), 0);
    EXPECT_LE(slabs_.made - before, static_cast<int>(prefetch + kMost - 1));
    EXPECT_EQ(loader.stats().held, 0u);
  }
  EXPECT_EQ(slabs_.alive(), 0);
}

TEST_F(HeldBatches, KeepTheirOwnSlabsAloneBehindTheLoader) {
  std::vector<Batch> held;
  {
    Loader loader(samples_, Options(3, 30));
    while (held.size() < 6) held.push_back(Take(loader));
    held.erase(held.begin() + 1);
  }
  EXPECT_EQ(slabs_.alive(), 5);
  auto expected = Expected(6);
  expected.erase(expected.begin() + 1);
  EXPECT_EQ(TakenOf(held), expected);
  std::thread([held = std::move(held)]() mutable { held.clear(); }).join();
  EXPECT_EQ(slabs_.alive(), 0);
}

TEST_F(HeldBatches, LetGoWhileTheLoaderEnds) {
  for (int i = 0; i < 100; ++i) {
    std::optional<Loader> loader;
    loader.emplace(samples_, Options(3, 30));
    std::vector<Batch> held;
    while (held.size() < 5) held.push_back(Take(*loader));
    std::thread other([held = std::move(held)]() mutable { held.clear(); });
    loader.reset();
    other.join();
    EXPECT_EQ(slabs_.alive(), 0);
  }
}

TEST_F(HeldBatches, WhereThereIsNoMemoryLettingGoHelps) {
  slabs_.most = 4;
  const auto expected = Expected(3);
  Loader loader(samples_, Options(3, 30));
  std::vector<Batch> held;
  while (held.size() < 2) held.push_back(Take(loader));
  for (int i = 0; i < 2; ++i) EXPECT_THROW(loader.Next(), std::bad_alloc);
  held.erase(held.begin());
  held.push_back(Take(loader));
  EXPECT_EQ(TakenOf(held), std::vector(expected.begin() + 1, expected.begin() + 3));
}

TEST_F(HeldBatches, AnExperimentInBetweenChangesNothing) {
  for (const LoaderMode mode : {LoaderMode::kReplay, LoaderMode::kSynthetic}) {
    Loader loader(samples_, Options(3, 30));
    std::vector<Batch> live, repeated;
    while (live.size() < 5) live.push_back(Take(loader));
    RequestMode(::getpid(), loader.stats().number, mode, std::chrono::seconds(600));
    while (repeated.size() < 40) repeated.push_back(Take(loader));
    for (const Batch& batch : repeated) EXPECT_FALSE(batch.live());
    RequestMode(::getpid(), loader.stats().number, LoaderMode::kLive, std::chrono::seconds(600));
    while (live.size() < 12) live.push_back(Take(loader));
    EXPECT_EQ(TakenOf(live), Expected(12));
    EXPECT_EQ(loader.stats().held, 12u) << "an experiment's batches are copies";
  }
}

TEST_F(HeldBatches, AChildLetsGoForItselfAlone) {
  if (kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer lets no forked child start threads";
  const auto expected = Expected(6);
  std::optional<Loader> loader;
  loader.emplace(samples_, Options(3, 30));
  std::vector<Batch> held;
  while (held.size() < 4) held.push_back(Take(*loader));
  Settled(*loader);
  EXPECT_EQ(InChild([&] {
              const bool same =
                  TakenOf(held) == std::vector(expected.begin(), expected.begin() + 4);
              held.pop_back();
              held.erase(held.begin());
              loader.reset();
              held.clear();
              Loader own(samples_, Options(3, 30));
              return same && recpack::TakenOf(Take(own)) == expected[0];
            }),
            0);
  EXPECT_EQ(loader->stats().held, 4u);
  while (held.size() < 6) held.push_back(Take(*loader));
  EXPECT_EQ(TakenOf(held), expected);
}

}  // namespace
}  // namespace recpack

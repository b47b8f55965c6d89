#include "src/pack/job/item_team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"

namespace recpack::pack {
namespace {

constexpr uint64_t kItems = 400;

// Items of a given size that contain their own number; counts the items read.
class SizedSource final : public Source {
 public:
  explicit SizedSource(uint64_t bytes) : bytes_(bytes) {}
  std::string kind() const override { return "sized"; }
  const std::vector<SourceSplit>& splits() const override { return splits_; }
  const std::vector<std::string>& class_names() const override { return names_; }
  std::string ItemName(size_t, uint64_t item) const override { return std::to_string(item); }
  uint64_t ItemBytes(size_t, uint64_t) const override { return bytes_; }
  bool sorted_by_class() const override { return false; }
  std::string Fingerprint() const override { return ""; }
  std::unique_ptr<ItemReader> NewReader() const override { return std::make_unique<Reader>(*this); }

  mutable std::atomic<uint64_t> read = 0;

 private:
  class Reader final : public ItemReader {
   public:
    explicit Reader(const SizedSource& source)
        : source_(source), payload_(std::max<uint64_t>(8, source.bytes_)) {}
    void Read(size_t, uint64_t item, Sample& sample) override {
      ++source_.read;
      StoreLittleEndian(payload_.data(), item);
      sample.payload = payload_;
    }

   private:
    const SizedSource& source_;
    ByteBuffer payload_;
  };

  uint64_t bytes_;
  std::vector<SourceSplit> splits_ = {{.name = "train", .items = kItems}};
  std::vector<std::string> names_;
};

struct Job {
  explicit Job(uint64_t bytes, size_t thread_count)
      : source(bytes), plan(MakePlan(source, {.shards = 1}, {})), threads(thread_count) {}

  // Whether the team was done.
  bool Run(const ItemTeam::Write& write) {
    ItemTeam team(source, plan, shard, threads, write);
    ParallelFor(threads, static_cast<int>(threads), [&](size_t, size_t) {
      const auto reader = source.NewReader();
      team.Work(*reader);
    });
    return team.done();
  }

  SizedSource source;
  Plan plan;
  PlannedShard shard = plan.shards[0];
  size_t threads;
};

TEST(ItemTeamTest, WritesEveryItemOnceInOrder) {
  for (const size_t threads : {1, 2, 5}) {
    Job job(100, threads);
    uint64_t next = 0;
    EXPECT_TRUE(job.Run([&](const PreparedItems& batch) {
      for (const PreparedItem& item : batch.items()) {
        EXPECT_EQ(item.item, next);
        EXPECT_EQ(LoadLittleEndian<uint64_t>(item.frame.data() + 12), next);
        ++next;
      }
      return true;
    }));
    EXPECT_EQ(next, kItems);
  }
}

// A slow writer, so that the other threads prepare as far ahead as they can.
TEST(ItemTeamTest, KeepsAheadByTheWindowAndNoMore) {
  for (const uint64_t bytes : {100'000u, 3'000'000u}) {
    constexpr size_t kThreads = 3;
    Job job(bytes, kThreads);
    // 1 MB a thread plus the batch that exceeds it, or one item a thread.
    const uint64_t most = bytes < 1'000'000 ? (kThreads << 20) / bytes + 3 : kThreads;
    uint64_t written = 0, furthest = 0;
    EXPECT_TRUE(job.Run([&](const PreparedItems& batch) {
      if (written < 20) {
        while (job.source.read - written < 2) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      furthest = std::max(furthest, job.source.read - written);
      written += batch.size();
      return true;
    }));
    EXPECT_LE(furthest, most);
    EXPECT_GT(furthest, 1u);
  }
}

TEST(ItemTeamTest, StopsWhereItIsToldTo) {
  for (const size_t threads : {1, 4}) {
    Job job(100'000, threads);
    int calls = 0;
    EXPECT_FALSE(job.Run([&](const PreparedItems&) { return ++calls < 5; }));
    EXPECT_EQ(calls, 5);
    EXPECT_LT(job.source.read, kItems);
  }
}

TEST(ItemTeamTest, ThrowsWhatTheWriterThrowsAndEnds) {
  for (const size_t threads : {1, 4}) {
    Job job(100'000, threads);
    EXPECT_THROW(job.Run([](const PreparedItems&) -> bool {
      throw Error(ErrorKind::kIo, "the disk is full");
    }),
                 Error);
    EXPECT_LT(job.source.read, kItems);
  }
}

}  // namespace
}  // namespace recpack::pack

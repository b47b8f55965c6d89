// Tests of reading shards in pieces delimited by their index.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/record/parallel.h"
#include "tests/base/temporary_folder.h"
#include "tests/record/memory_files.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;

constexpr auto kSkipPieceDamage = ReaderOptions::OnDamage::kResynchronise;
constexpr size_t kShards = 5;
constexpr size_t kPieceFrame = 500 + kFrameBytes;

size_t Records(size_t shard) { return 40 * shard; }  // the first is empty

std::vector<ByteBuffer> PayloadsOf(size_t shard) {
  return MakePayloads(Records(shard), 500, static_cast<uint32_t>(shard));
}

class PiecesTest : public testing::TestWithParam<int> {
 protected:
  PiecesTest() { Write({}); }

  void Write(WriterOptions options) {
    IndexWriter index(PosixFiles().Create(folder_ / "index"));
    paths_.clear();
    for (size_t s = 0; s < kShards; ++s) {
      paths_.push_back(folder_ / ("shard-" + std::to_string(s)));
      RecordWriter writer(PosixFiles().Create(paths_[s]), options);
      for (const auto& payload : PayloadsOf(s)) writer.Write(payload);
      writer.Finish(false);
      index.AddShard(writer.entries());
    }
    index.Finish(false);
  }

  void Flip(size_t shard, size_t record) {
    ByteBuffer bytes = ReadWholeFile(PosixFiles(), paths_[shard]);
    bytes[record * kPieceFrame + 100] ^= 1;
    PosixFiles().Create(paths_[shard])->Write(bytes);
  }

  void Read(const std::function<void(const ShardRecord&)>& on_record, ReaderOptions options = {},
            uint64_t piece_bytes = 7 * kPieceFrame) const {
    ReadShards(Index::Open(folder_ / "index"), folder_.path(), GetParam(), options, on_record,
               PosixFiles(), piece_bytes);
  }

  TemporaryFolder folder_;
  std::vector<std::string> paths_;
};

// Collects the records of all workers. Thread-safe.
class Collector {
 public:
  std::function<void(const ShardRecord&)> Function() {
    return [this](const ShardRecord& at) {
      const std::lock_guard lock(mutex_);
      workers.insert(at.worker);
      const Record& record = at.record;
      const bool fresh =
          seen[at.shard]
              .emplace(record.ordinal, ByteBuffer(record.payload.begin(), record.payload.end()))
              .second;
      EXPECT_TRUE(fresh) << "twice";
      EXPECT_EQ(record.offset, record.ordinal * kPieceFrame);
    };
  }

  std::map<size_t, std::map<uint64_t, ByteBuffer>> seen;
  std::set<size_t> workers;

 private:
  std::mutex mutex_;
};

void ExpectAll(const Collector& collector) {
  for (size_t s = 1; s < kShards; ++s) {
    const auto expected = PayloadsOf(s);
    const auto& seen = collector.seen.at(s);
    ASSERT_EQ(seen.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(seen.at(i), expected[i]);
  }
  EXPECT_FALSE(collector.seen.contains(0));
}

TEST_P(PiecesTest, GiveEveryRecordOnce) {
  for (const uint64_t piece : {uint64_t{0}, uint64_t{7 * kPieceFrame}, uint64_t{1} << 40}) {
    Collector collector;
    Read(collector.Function(), {}, piece);
    ExpectAll(collector);
    for (const size_t worker : collector.workers) {
      EXPECT_LT(worker, static_cast<size_t>(GetParam()));
    }
  }
}

TEST_P(PiecesTest, CompressedShardsAreReadWhole) {
  Write({.compression = Compression::kZlib});
  Collector collector;
  Read(collector.Function());
  ExpectAll(collector);
}

TEST_P(PiecesTest, DamageReachesTheCallerWithItsPlaceInTheShard) {
  Flip(3, 77);
  Collector collector;
  try {
    Read(collector.Function());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(error.place().path, paths_[3]);
    EXPECT_EQ(error.place().offset, 77 * kPieceFrame);
    EXPECT_EQ(error.place().ordinal, 77u);
  }
}

TEST_P(PiecesTest, DamageIsPassedWhereAsked) {
  Flip(2, 9);
  Flip(4, 100);
  Collector collector;
  Read(collector.Function(), {.on_damage = kSkipPieceDamage});
  EXPECT_EQ(collector.seen[2].size(), Records(2) - 1);
  EXPECT_FALSE(collector.seen[2].contains(9));
  EXPECT_EQ(collector.seen[4].size(), Records(4) - 1);
  EXPECT_EQ(collector.seen[3].size(), Records(3));
}

TEST_P(PiecesTest, WhatTheFunctionThrowsReachesTheCaller) {
  EXPECT_THROW(Read([](const ShardRecord& at) {
                 if (at.shard == 3 && at.record.ordinal == 5) throw std::runtime_error("enough");
               }),
               std::runtime_error);
}

TEST_P(PiecesTest, MissingShardIsNamed) {
  fs::remove(paths_[1]);
  Collector collector;
  try {
    Read(collector.Function());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
    EXPECT_EQ(error.place().path, paths_[1]);
  }
}

TEST_P(PiecesTest, StaleIndexIsRefused) {
  fs::resize_file(paths_[4], fs::file_size(paths_[4]) - kPieceFrame);
  Collector collector;
  try {
    Read(collector.Function());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_NE(error.advice().find("recpack index"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, PiecesTest, testing::Values(1, 2, 7));

TEST(ReaderPiece, ReadsItsRecordsAndNoOthers) {
  const auto payloads = MakePayloads(10, 500);
  const Shard shard = WriteShard(payloads);
  const Seen seen = ReadAll(
      shard.bytes,
      {.piece = ShardPiece{.offset = 3 * kPieceFrame, .end = 6 * kPieceFrame, .first_record = 3}});
  ASSERT_EQ(seen.payloads.size(), 3u);
  EXPECT_EQ(seen.payloads[0], payloads[3]);
  EXPECT_EQ(seen.ordinals[2], 5u);
  EXPECT_EQ(seen.offsets[2], 5 * kPieceFrame);
}

TEST(ReaderPiece, ThatEndsWithinARecordIsAnError) {
  const Shard shard = WriteShard(MakePayloads(10, 500));
  const ShardPiece piece{.offset = 3 * kPieceFrame, .end = 6 * kPieceFrame - 1, .first_record = 3};
  EXPECT_THROW(ReadAll(shard.bytes, {.piece = piece}), Error);
}

TEST(ReaderPiece, OfACompressedShardIsRefused) {
  const Shard shard = WriteShard(MakePayloads(10, 500), {.compression = Compression::kGzip});
  EXPECT_THROW(ReadAll(shard.bytes, {.piece = ShardPiece{}}), Error);
}

}  // namespace
}  // namespace recpack

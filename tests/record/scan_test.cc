// Tests of ScanShard().
#include <gtest/gtest.h>

#include <string>

#include "recpack/base/error.h"
#include "tests/base/temporary_folder.h"
#include "tests/record/counting_files.h"
#include "tests/record/deflated.h"
#include "tests/record/memory_files.h"

namespace recpack {
namespace {

// Short records, and records so long that only their headers are read.
std::vector<ByteBuffer> Payloads() {
  std::vector<ByteBuffer> payloads;
  for (const size_t size : {0u, 10u, 3000u, 40000u, 70000u, 5u, 300000u, 270000u, 1u}) {
    payloads.push_back(MakePayloads(1, size)[0]);
  }
  return payloads;
}

class Scan : public testing::TestWithParam<bool> {
 protected:
  ShardEntries Of(const ByteBuffer& bytes) const {
    PosixFiles().Create(path_)->Write(bytes);
    return ScanShard(PosixFiles(), path_, GetParam());
  }

  void ExpectCorrupt(const ByteBuffer& bytes, uint64_t offset, uint64_t ordinal) const {
    try {
      Of(bytes);
      ADD_FAILURE() << "was scanned";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
      EXPECT_EQ(error.place().path, path_);
      EXPECT_EQ(error.place().offset, offset);
      EXPECT_EQ(error.place().ordinal, ordinal);
    }
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "shard";
};

TEST_P(Scan, FindsWhatTheWriterWrote) {
  for (const auto compression : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    const Shard shard =
        WriteShard(Payloads(), {.compression = compression, .flush_interval = 50'000});
    const ShardEntries entries = Of(shard.bytes);
    EXPECT_EQ(entries.name, "shard");
    EXPECT_EQ(entries.lengths, shard.entries.lengths);
    EXPECT_EQ(entries.crcs, shard.entries.crcs);
    EXPECT_EQ(entries.file_bytes, shard.bytes.size());
    EXPECT_EQ(entries.compression, compression);
    EXPECT_EQ(entries.flush_points, shard.entries.flush_points);
    EXPECT_EQ(entries.flush_points.size(), compression == Compression::kNone ? 0u : 4u);
  }
}

TEST_P(Scan, ReadsCompressedShardsOnce) {
  for (const auto compression : {Compression::kGzip, Compression::kZlib}) {
    const Shard shard = WriteShard(MakePayloads(300, 3000), {.compression = compression});
    PosixFiles().Create(path_)->Write(shard.bytes);
    CountingFiles files;
    EXPECT_EQ(ScanShard(files, path_, GetParam()).lengths, shard.entries.lengths);
    EXPECT_LT(files.bytes, shard.bytes.size() + 1000);
  }
}

// `cat a b`: one stream for gzip, but its flush points are unusable, since the end of the first
// member is unknown after a jump.
TEST_P(Scan, SeveralOfOursInOneFileAreReadInOrderWithoutFlushPoints) {
  const Shard one = WriteShard(Payloads(), {.compression = Compression::kGzip});
  const Shard two = WriteShard(MakePayloads(40, 300), {.compression = Compression::kGzip});
  ByteBuffer both = one.bytes;
  both.insert(both.end(), two.bytes.begin(), two.bytes.end());
  std::vector<uint32_t> lengths = one.entries.lengths;
  lengths.insert(lengths.end(), two.entries.lengths.begin(), two.entries.lengths.end());
  const ShardEntries entries = Of(both);
  EXPECT_EQ(entries.lengths, lengths);
  EXPECT_TRUE(entries.flush_points.empty());
  RecordReader reader(PosixFiles().OpenForReading(path_), {});
  std::vector<ByteBuffer> payloads = Payloads();
  std::ranges::move(MakePayloads(40, 300), std::back_inserter(payloads));
  Record record;
  for (const ByteBuffer& payload : payloads) {
    ASSERT_TRUE(reader.Next(record));
    EXPECT_TRUE(std::ranges::equal(record.payload, payload));
  }
  EXPECT_FALSE(reader.Next(record));
}

TEST_P(Scan, OfAnEmptyShard) { EXPECT_TRUE(Of({}).lengths.empty()); }

TEST_P(Scan, ManyRecords) {
  const Shard shard = WriteShard(MakePayloads(5000, 150));
  EXPECT_EQ(Of(shard.bytes).lengths, shard.entries.lengths);
}

TEST_P(Scan, EveryCutIsAnErrorButAtABoundary) {
  const Shard shard = WriteShard(MakePayloads(3, 30));
  for (size_t size = 0; size < shard.bytes.size(); ++size) {
    const ByteBuffer cut(shard.bytes.begin(), shard.bytes.begin() + static_cast<int>(size));
    const size_t whole = size / 46;
    if (size % 46 == 0) {
      EXPECT_EQ(Of(cut).lengths.size(), whole);
    } else {
      ExpectCorrupt(cut, whole * 46, whole);
    }
  }
}

TEST_P(Scan, DamagedLengthIsAnError) {
  Shard shard = WriteShard(MakePayloads(3, 30));
  shard.bytes[46 + 2] ^= 1;
  ExpectCorrupt(shard.bytes, 46, 1);
}

TEST_P(Scan, DamagedCrcOfALengthIsAnErrorWhateverTheCompression) {
  ByteBuffer bytes = WriteShard(MakePayloads(3, 30)).bytes;
  bytes[46 + 8] ^= 1;
  ExpectCorrupt(bytes, 46, 1);
  for (const int window_bits : {15, 31}) {
    for (const bool ours : {false, true}) ExpectCorrupt(Deflated(bytes, window_bits, ours), 46, 1);
  }
}

TEST_P(Scan, LengthPastTheEndIsAnError) {
  Shard shard = WriteShard(MakePayloads(3, 30));
  for (const uint64_t length : {uint64_t{77}, UINT64_MAX, UINT64_MAX - 15}) {
    StoreFrameHeader(shard.bytes.data() + 46, length);
    ExpectCorrupt(shard.bytes, 46, 1);
  }
}

TEST_P(Scan, DamagedPayloadIsAnErrorWhereVerified) {
  Shard shard = WriteShard(MakePayloads(3, 30));
  shard.bytes[46 + 20] ^= 1;
  if (GetParam()) {
    ExpectCorrupt(shard.bytes, 46, 1);
  } else {
    EXPECT_EQ(Of(shard.bytes).lengths, shard.entries.lengths);
  }
}

INSTANTIATE_TEST_SUITE_P(Verified, Scan, testing::Bool());

}  // namespace
}  // namespace recpack

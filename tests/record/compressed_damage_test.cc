// Tests of damaged compressed shards: damage loses at most the segment between two flush points.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "recpack/base/error.h"
#include "tests/base/temporary_folder.h"
#include "tests/record/counting_files.h"
#include "tests/record/deflated.h"
#include "tests/record/memory_files.h"

namespace recpack {
namespace {

constexpr auto kSkipStreamDamage = ReaderOptions::OnDamage::kResynchronise;
constexpr size_t kStreamRecords = 60;
constexpr size_t kStreamPayload = 1000;
constexpr size_t kStretch = 10;  // records between two flush points

// Text-like bytes, so that the streams have Huffman codes and matches.
std::vector<ByteBuffer> Compressible() {
  auto payloads = MakePayloads(kStreamRecords, kStreamPayload);
  for (ByteBuffer& payload : payloads) {
    for (uint8_t& byte : payload) byte = static_cast<uint8_t>('a' + byte % 5);
  }
  return payloads;
}

ByteBuffer Gzip(ByteView bytes) { return Deflated(bytes, 15 + 16); }

ByteBuffer Joined(ByteBuffer first, const ByteBuffer& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

void ExpectCorrupt(const ByteBuffer& bytes, const std::string& reason) {
  try {
    ReadAll(bytes);
    ADD_FAILURE() << "was read: " << reason;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(error.place().path, "shard");
    EXPECT_TRUE(error.place().offset);
    EXPECT_TRUE(error.place().ordinal);
    EXPECT_NE(error.reason().find(reason), std::string::npos) << error.what();
  }
}

class Compressed : public testing::TestWithParam<Compression> {
 protected:
  Compressed()
      : payloads_(Compressible()),
        shard_(
            WriteShard(payloads_, {.compression = GetParam(),
                                   .flush_interval = kStretch * (kStreamPayload + kFrameBytes)})),
        entries_(std::make_shared<ShardEntries>(shard_.entries)) {}

  uint64_t StretchStart(size_t stretch) const {
    return shard_.entries.flush_points[stretch].file_offset;
  }

  // Checks that the records read are a subsequence of those written; returns how many are missing.
  size_t ExpectSubsequence(const Seen& seen) const {
    size_t at = 0;
    for (const ByteBuffer& payload : seen.payloads) {
      while (at < kStreamRecords && payloads_[at] != payload) ++at;
      EXPECT_LT(at, kStreamRecords) << "a payload that was never written";
      ++at;
    }
    return kStreamRecords - seen.payloads.size();
  }

  void ExpectExactReport(const Seen& seen) const {
    uint64_t lost = 0;
    for (const Damage& damage : seen.damages) {
      ASSERT_TRUE(damage.lost) << damage.reason;
      lost += *damage.lost;
    }
    EXPECT_EQ(lost, kStreamRecords - seen.payloads.size());
    for (size_t i = 0; i < seen.payloads.size(); ++i) {
      EXPECT_EQ(seen.payloads[i], payloads_[seen.ordinals[i]]);
      EXPECT_EQ(seen.offsets[i], seen.ordinals[i] * (kStreamPayload + kFrameBytes));
    }
  }

  std::vector<ByteBuffer> payloads_;
  Shard shard_;
  std::shared_ptr<const ShardEntries> entries_;
};

TEST_P(Compressed, DamageOfOneStretchLosesNoOther) {
  for (size_t stretch = 0; stretch + 1 < kStreamRecords / kStretch; ++stretch) {
    ByteBuffer bytes = shard_.bytes;
    std::fill_n(bytes.begin() + static_cast<int>(StretchStart(stretch)) + 300, 40, uint8_t{0xff});
    EXPECT_THROW(ReadAll(bytes), Error);
    const Seen seen = ReadAll(bytes, {.on_damage = kSkipStreamDamage, .entries = entries_});
    ExpectExactReport(seen);
    EXPECT_LE(ExpectSubsequence(seen), kStretch);
    EXPECT_EQ(seen.payloads.back(), payloads_.back());
  }
}

TEST_P(Compressed, WithoutEntriesFlushPointsAreSearchedFor) {
  for (size_t stretch = 0; stretch + 1 < kStreamRecords / kStretch; ++stretch) {
    ByteBuffer bytes = shard_.bytes;
    std::fill_n(bytes.begin() + static_cast<int>(StretchStart(stretch)) + 300, 40, uint8_t{0xff});
    const Seen seen = ReadAll(bytes, {.on_damage = kSkipStreamDamage});
    EXPECT_LE(ExpectSubsequence(seen), kStretch);
    EXPECT_GE(seen.damages.size(), 1u);
    EXPECT_EQ(seen.payloads.back(), payloads_.back());
  }
}

TEST_P(Compressed, EveryFlippedBitOfAStretch) {
  const uint64_t begin = StretchStart(2);
  const uint64_t end = StretchStart(3);
  for (uint64_t byte = begin; byte < end; byte += 7) {
    ByteBuffer bytes = shard_.bytes;
    bytes[byte] ^= static_cast<uint8_t>(1 << byte % 8);
    EXPECT_THROW(ReadAll(bytes), Error) << byte;
    const Seen known = ReadAll(bytes, {.on_damage = kSkipStreamDamage, .entries = entries_});
    ExpectExactReport(known);
    EXPECT_LE(ExpectSubsequence(known), kStretch) << byte;
    const Seen unknown = ReadAll(bytes, {.on_damage = kSkipStreamDamage});
    EXPECT_LE(ExpectSubsequence(unknown), 2 * kStretch) << byte;
    EXPECT_FALSE(unknown.damages.empty());
  }
}

TEST_P(Compressed, DamageOfTheHeaderOrOfAFlushAloneLosesNoRecord) {
  const uint64_t last_flush = shard_.entries.flush_points[3].file_offset - 1;
  for (const uint64_t byte : {StretchStart(0) - 2, last_flush}) {
    ByteBuffer bytes = shard_.bytes;
    bytes[byte] ^= 0x10;
    ExpectCorrupt(bytes, "the compressed stream is damaged (invalid stored block lengths)");
    for (const auto& known : {entries_, std::shared_ptr<const ShardEntries>()}) {
      const Seen seen = ReadAll(bytes, {.on_damage = kSkipStreamDamage, .entries = known});
      EXPECT_EQ(seen.payloads, payloads_) << byte;
      EXPECT_EQ(seen.damages.size(), 1u);
    }
  }
}

// The exact inflater is not used for valid streams.
TEST_P(Compressed, AWholeStreamIsReadOnce) {
  const TemporaryFolder folder;
  const std::string path = folder / "shard";
  Shard plain = WriteShard(payloads_);
  for (const ByteBuffer& bytes :
       {shard_.bytes, Deflated(plain.bytes, GetParam() == Compression::kGzip ? 31 : 15)}) {
    PosixFiles().Create(path)->Write(bytes);
    CountingFiles files;
    RecordReader reader(files.OpenForReading(path), {});
    size_t records = 0;
    for (Record record; reader.Next(record);) ++records;
    EXPECT_EQ(records, payloads_.size());
    EXPECT_LT(files.bytes, bytes.size() + 100);
  }
}

TEST_P(Compressed, EveryPrefixIsAnError) {
  for (size_t size = 1; size < shard_.bytes.size(); size += size < 40 ? 1 : 101) {
    const ByteBuffer prefix(shard_.bytes.begin(), shard_.bytes.begin() + static_cast<int>(size));
    if (size < 12) {  // only the start of a header
      EXPECT_THROW(ReadAll(prefix), Error) << size;
    } else {
      ExpectCorrupt(prefix, "the compressed stream is cut off");
    }
    const Seen seen = ReadAll(prefix, {.on_damage = kSkipStreamDamage, .entries = entries_});
    ExpectExactReport(seen);
    ExpectSubsequence(seen);
  }
}

TEST_P(Compressed, CutTrailerIsAnErrorAfterTheLastRecord) {
  ByteBuffer bytes = shard_.bytes;
  bytes.pop_back();
  ExpectCorrupt(bytes, "the compressed stream is cut off");
  const Seen seen = ReadAll(bytes, {.on_damage = kSkipStreamDamage, .entries = entries_});
  EXPECT_EQ(seen.payloads.size(), kStreamRecords);
  ASSERT_EQ(seen.damages.size(), 1u);
  EXPECT_EQ(seen.damages[0].lost, 0u);
}

TEST_P(Compressed, DamagedTrailerIsAnErrorAfterTheLastRecord) {
  const size_t trailer = GetParam() == Compression::kGzip ? 8 : 4;
  for (size_t i = 1; i <= trailer; ++i) {
    ByteBuffer bytes = shard_.bytes;
    bytes[bytes.size() - i] ^= 1;
    // The last four bytes of gzip's trailer are the length.
    ExpectCorrupt(bytes, trailer == 8 && i <= 4
                             ? "the compressed stream is damaged (incorrect length check)"
                             : "the compressed stream is damaged (incorrect data check)");
    const Seen seen = ReadAll(bytes, {.on_damage = kSkipStreamDamage, .entries = entries_});
    EXPECT_EQ(seen.payloads, payloads_);
    EXPECT_EQ(seen.damages.size(), 1u);
  }
}

TEST_P(Compressed, GarbageBehindTheStreamIsAnError) {
  ExpectCorrupt(Joined(shard_.bytes, {1, 2, 3}), "damaged");
  ExpectCorrupt(Joined(shard_.bytes, {0x1f}), "cut off");
}

TEST_P(Compressed, BadPayloadInAWholeStreamLosesOneRecord) {
  Shard plain = WriteShard(payloads_);
  plain.bytes[5 * (kStreamPayload + kFrameBytes) + 100] ^= 1;
  const ByteBuffer bytes = Deflated(plain.bytes, GetParam() == Compression::kGzip ? 31 : 15);
  auto entries = std::make_shared<ShardEntries>(plain.entries);
  entries->compression = GetParam();
  for (const auto& known : {std::shared_ptr<ShardEntries>(), entries}) {
    const Seen seen = ReadAll(bytes, {.on_damage = kSkipStreamDamage, .entries = known});
    EXPECT_EQ(ExpectSubsequence(seen), 1u);
    ASSERT_EQ(seen.damages.size(), 1u);
    EXPECT_EQ(seen.damages[0].lost, 1u);
    EXPECT_EQ(seen.damages[0].ordinal, 5u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Compressed, testing::Values(Compression::kGzip, Compression::kZlib),
                         [](const auto& each) { return CompressionName(each.param); });

TEST(Gzip, OfSeveralMembersIsOneShard) {
  const auto payloads = Compressible();
  const Shard plain = WriteShard(payloads);
  const ByteView bytes = plain.bytes;
  // Members that end between and within records, and an empty one.
  ByteBuffer joined;
  size_t at = 0;
  for (const size_t cut : {10160u, 10160u, 20000u, 20001u, 60960u}) {
    joined = Joined(std::move(joined), Gzip(bytes.subspan(at, cut - at)));
    at = cut;
  }
  EXPECT_EQ(ReadAll(joined).payloads, payloads);
  ByteBuffer cut = joined;
  cut.pop_back();
  ExpectCorrupt(cut, "the compressed stream is cut off");
  joined[joined.size() - 5] ^= 1;
  ExpectCorrupt(joined, "the compressed stream is damaged (incorrect data check)");
}

TEST(Gzip, OfNothingIsAnEmptyShard) {
  EXPECT_TRUE(ReadAll(Gzip({})).payloads.empty());
  EXPECT_TRUE(ReadAll({}).payloads.empty());
}

TEST(Gzip, ClaimOfALengthThatTheFileCannotHoldIsRefused) {
  ByteBuffer frame(kFrameBytes);
  StoreFrameHeader(frame.data(), uint64_t{1} << 60);
  ExpectCorrupt(Gzip(frame), "within a record");
  StoreFrameHeader(frame.data(), 20000);  // plausible, but beyond the data
  ExpectCorrupt(Gzip(frame), "within a record");
}

}  // namespace
}  // namespace recpack

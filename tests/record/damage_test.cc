// Tests of damaged uncompressed shards, one case per kind of damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>

#include "recpack/base/error.h"
#include "tests/record/memory_files.h"

namespace recpack {
namespace {

using testing::ElementsAreArray;

constexpr size_t kRecords = 20;
constexpr size_t kPayload = 1000;
constexpr size_t kFrame = kPayload + kFrameBytes;
constexpr size_t kVictim = 7;  // the record that is damaged
constexpr auto kResynchronise = ReaderOptions::OnDamage::kResynchronise;

struct Case {
  const char* name;
  void (*damage)(ByteBuffer& bytes);
  const char* reason;                     // part of the error's reason
  std::vector<size_t> lost;               // ordinals
  std::optional<uint64_t> count_without;  // records reported as lost without entries
};

uint8_t* Victim(ByteBuffer& bytes) { return bytes.data() + kVictim * kFrame; }

// Makes a valid frame header with this length.
void StoreHeader(ByteBuffer& bytes, uint64_t length) { StoreFrameHeader(Victim(bytes), length); }

std::vector<size_t> From(size_t first) {
  std::vector<size_t> all(kRecords - first);
  std::iota(all.begin(), all.end(), first);
  return all;
}

const Case kCases[] = {
    {"Length", [](ByteBuffer& b) { Victim(b)[1] ^= 4; }, "CRC of the length", {kVictim}, {}},
    {"LengthCrc", [](ByteBuffer& b) { Victim(b)[9] ^= 64; }, "CRC of the length", {kVictim}, {}},
    {"Payload", [](ByteBuffer& b) { Victim(b)[500] ^= 1; }, "CRC of the payload", {kVictim}, 1},
    {"PayloadCrc",
     [](ByteBuffer& b) { Victim(b)[kFrame - 1] ^= 128; },
     "CRC of the payload",
     {kVictim},
     1},
    {"ZeroedPage",
     [](ByteBuffer& b) { std::fill_n(Victim(b) + 500, 4096, uint8_t{0}); },
     "CRC of the payload",
     {7, 8, 9, 10, 11},
     {}},
    {"ZeroedPageAtAFrame",
     [](ByteBuffer& b) { std::fill_n(Victim(b), 4096, uint8_t{0}); },
     "CRC of the length",
     {7, 8, 9, 10, 11},
     {}},
    {"AbsurdLength",
     [](ByteBuffer& b) { StoreHeader(b, uint64_t{1} << 62); },
     "within a record of 4611686018427387904 bytes",
     {kVictim},
     {}},
    {"LargestLength",
     [](ByteBuffer& b) { StoreHeader(b, UINT64_MAX); },
     "within a record",
     {kVictim},
     {}},
    {"LengthPastTheEnd",
     [](ByteBuffer& b) { StoreHeader(b, 13 * kFrame); },
     "within a record",
     {kVictim},
     {}},
    {"WrongLengthThatHolds",
     [](ByteBuffer& b) { StoreHeader(b, 10); },
     "CRC of the payload",
     {kVictim},
     {}},
    {"TruncatedPayload",
     [](ByteBuffer& b) { b.resize(kVictim * kFrame + 300); },
     "within a record of 1000 bytes",
     From(kVictim),
     {}},
    {"TruncatedHeader",
     [](ByteBuffer& b) { b.resize(kVictim * kFrame + 5); },
     "within the header of a record",
     From(kVictim),
     {}},
    {"TruncatedFooter",
     [](ByteBuffer& b) { b.resize((kVictim + 1) * kFrame - 1); },
     "within a record of 1000 bytes",
     From(kVictim),
     {}},
    {"LastRecord",
     [](ByteBuffer& b) { b[b.size() - 100] ^= 1; },
     "CRC of the payload",
     {kRecords - 1},
     1},
    {"ZeroedTail",
     [](ByteBuffer& b) { std::fill(b.end() - 2 * kFrame, b.end(), uint8_t{0}); },
     "CRC of the length",
     From(kRecords - 2),
     {}},
};

class Damaged : public testing::TestWithParam<Case> {
 protected:
  Damaged() : payloads_(MakePayloads(kRecords, kPayload)), shard_(WriteShard(payloads_)) {
    GetParam().damage(shard_.bytes);
  }

  std::vector<ByteBuffer> Survivors() const {
    std::vector<ByteBuffer> survivors;
    for (size_t i = 0; i < kRecords; ++i) {
      if (std::ranges::count(GetParam().lost, i) == 0) survivors.push_back(payloads_[i]);
    }
    return survivors;
  }

  std::vector<ByteBuffer> payloads_;
  Shard shard_;
};

TEST_P(Damaged, FailsWithFileOffsetAndOrdinal) {
  const size_t first = GetParam().lost.front();
  try {
    ReadAll(shard_.bytes);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(error.place().path, "shard");
    EXPECT_EQ(error.place().offset, first * kFrame);
    EXPECT_EQ(error.place().ordinal, first);
    EXPECT_NE(error.reason().find(GetParam().reason), std::string::npos) << error.what();
  }
}

TEST_P(Damaged, LosesExactlyTheDamagedWithEntries) {
  const auto entries = std::make_shared<ShardEntries>(shard_.entries);
  for (const size_t buffer : {1u, 1u << 20}) {
    const Seen seen = ReadAll(
        shard_.bytes, {.buffer_bytes = buffer, .on_damage = kResynchronise, .entries = entries});
    EXPECT_THAT(seen.payloads, ElementsAreArray(Survivors()));
    std::optional<uint64_t> lost = 0;
    for (const Damage& damage : seen.damages) {
      ASSERT_TRUE(damage.lost);
      *lost += *damage.lost;
      EXPECT_EQ(damage.offset, damage.ordinal * kFrame);
    }
    EXPECT_EQ(lost, GetParam().lost.size());
    ASSERT_FALSE(seen.damages.empty());
    EXPECT_EQ(seen.damages[0].ordinal, GetParam().lost.front());
    EXPECT_NE(seen.damages[0].reason.find(GetParam().reason), std::string::npos);
    for (size_t i = 0; i < seen.payloads.size(); ++i) {
      EXPECT_EQ(payloads_[seen.ordinals[i]], seen.payloads[i]);
      EXPECT_EQ(seen.offsets[i], seen.ordinals[i] * kFrame);
    }
  }
}

TEST_P(Damaged, LosesExactlyTheDamagedWithoutEntries) {
  for (const size_t buffer : {1u, 1u << 20}) {
    const Seen seen = ReadAll(shard_.bytes, {.buffer_bytes = buffer, .on_damage = kResynchronise});
    EXPECT_THAT(seen.payloads, ElementsAreArray(Survivors()));
    ASSERT_EQ(seen.damages.size(), 1u);
    EXPECT_EQ(seen.damages[0].lost, GetParam().count_without);
    EXPECT_EQ(seen.damages[0].ordinal, GetParam().lost.front());
    EXPECT_EQ(seen.damages[0].offset, GetParam().lost.front() * kFrame);
    EXPECT_EQ(seen.damages[0].end,
              std::min((GetParam().lost.back() + 1) * kFrame, shard_.bytes.size()));
  }
}

INSTANTIATE_TEST_SUITE_P(EachWay, Damaged, testing::ValuesIn(kCases),
                         [](const auto& each) { return each.param.name; });

TEST(DamageOfSeveralRecords, EachIsReported) {
  const auto payloads = MakePayloads(kRecords, kPayload);
  Shard shard = WriteShard(payloads);
  for (const size_t i : {2u, 9u, 15u}) shard.bytes[i * kFrame + 100] ^= 1;
  const Seen seen = ReadAll(shard.bytes, {.on_damage = kResynchronise});
  EXPECT_EQ(seen.payloads.size(), kRecords - 3);
  ASSERT_EQ(seen.damages.size(), 3u);
  EXPECT_EQ(seen.damages[2].ordinal, 15u);
  EXPECT_EQ(seen.ordinals.back(), kRecords - 1);
}

TEST(DamageThatMovesBytes, IsSurvivedWithAndWithoutEntries) {
  const auto payloads = MakePayloads(kRecords, kPayload);
  Shard shard = WriteShard(payloads);
  shard.bytes.erase(shard.bytes.begin() + kVictim * kFrame + 100,
                    shard.bytes.begin() + kVictim * kFrame + 200);
  for (const bool known : {false, true}) {
    const Seen seen = ReadAll(
        shard.bytes, {.on_damage = kResynchronise,
                      .entries = known ? std::make_shared<ShardEntries>(shard.entries) : nullptr});
    ASSERT_EQ(seen.payloads.size(), kRecords - 1);
    EXPECT_EQ(seen.payloads.back(), payloads.back());
    ASSERT_EQ(seen.damages.size(), 1u);
    EXPECT_FALSE(seen.damages[0].lost);
  }
}

TEST(StaleEntries, AreNotFollowed) {
  const auto payloads = MakePayloads(kRecords, kPayload);
  Shard shard = WriteShard(payloads);
  shard.bytes[kVictim * kFrame + 100] ^= 1;
  const auto entries = std::make_shared<ShardEntries>(WriteShard(MakePayloads(30, 77)).entries);
  const Seen seen = ReadAll(shard.bytes, {.on_damage = kResynchronise, .entries = entries});
  EXPECT_EQ(seen.payloads.size(), kRecords - 1);
}

TEST(DamageOfTheFirstHeader, IsNotTakenForCompression) {
  // Lengths whose bytes begin like a gzip or zlib stream.
  for (const size_t length : {0x9c78u, 0x0178u, 0x8b1fu}) {
    const auto payloads = MakePayloads(3, length);
    Shard shard = WriteShard(payloads);
    EXPECT_EQ(ReadAll(shard.bytes).payloads.size(), 3u);
    shard.bytes[9] ^= 1;
    EXPECT_EQ(ReadAll(shard.bytes, {.on_damage = kResynchronise}).payloads.size(), 2u);
  }
}

TEST(LengthsLikeAGzipHeader, AreReadByTheirCrc) {
  // 1F 8B 08 00, with all that RFC 1952 asks of a header.
  const auto payloads = MakePayloads(2, 0x00088b1f);
  const Seen seen = ReadAll(WriteShard(payloads).bytes);
  EXPECT_EQ(seen.compression, Compression::kNone);
  EXPECT_EQ(seen.payloads, payloads);
}

TEST(LengthsLikeAGzipHeader, AreNoGzipWithReservedFlags) {
  for (const uint64_t flag : {0x20, 0x40, 0x80}) {
    ByteBuffer bytes(100);
    StoreFrameHeader(bytes.data(), flag << 24 | 0x088b1f);
    bytes[9] ^= 1;
    const Seen seen = ReadAll(bytes, {.on_damage = kResynchronise});
    EXPECT_EQ(seen.compression, Compression::kNone);
    ASSERT_EQ(seen.damages.size(), 1u);
    EXPECT_EQ(seen.damages[0].reason, "the CRC of the length does not match");
  }
}

TEST(EveryPrefix, IsAnErrorButAtABoundary) {
  const auto payloads = MakePayloads(4, 30);
  const Shard shard = WriteShard(payloads);
  constexpr size_t kSmallFrame = 30 + kFrameBytes;
  for (size_t size = 0; size < shard.bytes.size(); ++size) {
    const ByteBuffer prefix(shard.bytes.begin(), shard.bytes.begin() + static_cast<int>(size));
    if (size % kSmallFrame == 0) {
      EXPECT_EQ(ReadAll(prefix).payloads.size(), size / kSmallFrame);
    } else {
      EXPECT_THROW(ReadAll(prefix), Error) << size;
    }
    const auto entries = std::make_shared<ShardEntries>(shard.entries);
    for (const auto& known : {std::shared_ptr<ShardEntries>(), entries}) {
      const Seen seen = ReadAll(prefix, {.on_damage = kResynchronise, .entries = known});
      EXPECT_EQ(seen.payloads.size(), size / kSmallFrame) << size;
    }
  }
}

TEST(EveryFlippedBit, LosesOneRecord) {
  const auto payloads = MakePayloads(4, 30);
  Shard shard = WriteShard(payloads);
  const auto entries = std::make_shared<ShardEntries>(shard.entries);
  for (size_t bit = 0; bit < shard.bytes.size() * 8; ++bit) {
    shard.bytes[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    const size_t lost = bit / 8 / (30 + kFrameBytes);
    EXPECT_THROW(ReadAll(shard.bytes), Error);
    for (const auto& known : {std::shared_ptr<ShardEntries>(), entries}) {
      const Seen seen = ReadAll(shard.bytes, {.on_damage = kResynchronise, .entries = known});
      auto expected = payloads;
      expected.erase(expected.begin() + static_cast<int>(lost));
      ASSERT_EQ(seen.payloads, expected) << bit;
      ASSERT_EQ(seen.damages.size(), 1u);
      EXPECT_EQ(seen.damages[0].ordinal, lost);
    }
    shard.bytes[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
}

TEST(WithoutVerifying, LengthsAreStillCheckedAgainstTheEnd) {
  Shard shard = WriteShard(MakePayloads(3, 100));
  shard.bytes[50] ^= 1;
  EXPECT_EQ(ReadAll(shard.bytes, {.verify = false}).payloads.size(), 3u);
  StoreLittleEndian(shard.bytes.data(), uint64_t{1} << 60);
  EXPECT_THROW(ReadAll(shard.bytes, {.verify = false}), Error);
  const Seen seen = ReadAll(shard.bytes, {.verify = false, .on_damage = kResynchronise});
  EXPECT_EQ(seen.payloads.size(), 2u);
}

// A file of valid headers, each claiming the rest of the file: every one costs a CRC over it.
TEST(SearchOnAFileMadeToBeSlow, Ends) {
  ByteBuffer bytes(12 << 17);
  for (size_t at = 0; at + 12 <= bytes.size(); at += 12) {
    StoreFrameHeader(bytes.data() + at, bytes.size() - at - kFrameBytes);
  }
  const Seen seen = ReadAll(bytes, {.on_damage = kResynchronise});
  EXPECT_TRUE(seen.payloads.empty());
  EXPECT_EQ(seen.damages.size(), 1u);
}

}  // namespace
}  // namespace recpack

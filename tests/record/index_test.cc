#include "recpack/record/index.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/record/framing.h"
#include "tests/base/temporary_folder.h"

namespace recpack {
namespace {

ShardEntries MakeEntries(std::string name, std::vector<uint32_t> lengths) {
  ShardEntries entries{.name = std::move(name), .lengths = std::move(lengths), .flush_points = {}};
  for (const uint32_t length : entries.lengths) {
    entries.file_bytes += length + kFrameBytes;
    entries.crcs.push_back(0x11111111 * static_cast<uint32_t>(entries.crcs.size() % 15 + 1));
  }
  return entries;
}

std::vector<uint32_t> Rising(size_t count) {
  std::vector<uint32_t> lengths(count);
  for (size_t i = 0; i < count; ++i) lengths[i] = static_cast<uint32_t>(i * 37 % 1000);
  return lengths;
}

std::string WriteIndex(const TemporaryFolder& folder, const std::vector<ShardEntries>& shards) {
  const std::string path = folder / "index";
  IndexWriter writer(PosixFiles().Create(path));
  for (const ShardEntries& shard : shards) writer.AddShard(shard);
  writer.Finish(false);
  return path;
}

void ExpectLocations(const Index& index, const std::vector<ShardEntries>& shards) {
  uint64_t ordinal = 0;
  for (uint32_t s = 0; s < shards.size(); ++s) {
    uint64_t offset = 0;
    for (size_t i = 0; i < shards[s].lengths.size(); ++i, ++ordinal) {
      const RecordLocation location = index.Locate(ordinal);
      ASSERT_EQ(location.shard, s);
      ASSERT_EQ(location.ordinal, i);
      ASSERT_EQ(location.offset, offset);
      ASSERT_EQ(location.length, shards[s].lengths[i]);
      ASSERT_EQ(location.crc.has_value(), !shards[s].crcs.empty());
      if (location.crc) {
        ASSERT_EQ(*location.crc, shards[s].crcs[i]);
      }
      offset += shards[s].lengths[i] + kFrameBytes;
    }
  }
  EXPECT_EQ(index.record_count(), ordinal);
}

void ExpectRoundTrip(const std::vector<ShardEntries>& shards) {
  const TemporaryFolder folder;
  const Index index = Index::Open(WriteIndex(folder, shards));
  ASSERT_EQ(index.shard_count(), shards.size());
  uint64_t first = 0;
  for (size_t s = 0; s < shards.size(); ++s) {
    const ShardEntries entries = index.Entries(s);
    EXPECT_EQ(entries.name, shards[s].name);
    EXPECT_EQ(entries.lengths, shards[s].lengths);
    EXPECT_EQ(entries.crcs, shards[s].crcs);
    EXPECT_EQ(entries.file_bytes, shards[s].file_bytes);
    EXPECT_EQ(entries.compression, shards[s].compression);
    EXPECT_EQ(entries.flush_points, shards[s].flush_points);
    EXPECT_EQ(index.shard(s).name, shards[s].name);
    EXPECT_EQ(index.shard(s).records, shards[s].lengths.size());
    EXPECT_EQ(index.shard(s).first_record, first);
    first += shards[s].lengths.size();
  }
  ExpectLocations(index, shards);
}

TEST(IndexRoundTrip, NoShards) { ExpectRoundTrip({}); }

TEST(IndexRoundTrip, EqualLengths) {
  ExpectRoundTrip({MakeEntries("a", std::vector<uint32_t>(1000, 3082))});
}

TEST(IndexRoundTrip, LengthsThatDiffer) { ExpectRoundTrip({MakeEntries("a", Rising(1000))}); }

TEST(IndexRoundTrip, WithoutCrcs) {
  ShardEntries without = MakeEntries("b", Rising(70));
  without.crcs.clear();
  ExpectRoundTrip({MakeEntries("a", {5, 5}), without, MakeEntries("c", {5, 6})});
}

TEST(IndexRoundTrip, RecordsWithoutBytes) {
  ExpectRoundTrip({MakeEntries("a", std::vector<uint32_t>(70, 0))});
}

TEST(IndexRoundTrip, CountsAroundABlock) {
  for (const size_t count : {1u, 2u, 63u, 64u, 65u, 128u, 129u}) {
    ExpectRoundTrip({MakeEntries("a", Rising(count))});
  }
}

TEST(IndexRoundTrip, EmptyShardsAnywhere) {
  ExpectRoundTrip({MakeEntries("a", {}), MakeEntries("b", {}), MakeEntries("c", {5, 6}),
                   MakeEntries("d", {}), MakeEntries("e", {7}), MakeEntries("f", {})});
}

TEST(IndexRoundTrip, ManyShards) {
  std::vector<ShardEntries> shards;
  for (size_t i = 0; i < 500; ++i) {
    shards.push_back(MakeEntries("shard-" + std::to_string(i), Rising(i % 9)));
  }
  ExpectRoundTrip(shards);
}

TEST(IndexRoundTrip, CompressedWithFlushPoints) {
  ShardEntries entries = MakeEntries("a", Rising(100));
  entries.compression = Compression::kGzip;
  entries.file_bytes = 900;
  entries.flush_points = {{.file_offset = 300, .first_record = 30},
                          {.file_offset = 600, .first_record = 60}};
  ExpectRoundTrip({entries});
}

TEST(IndexRoundTrip, LengthsPastFourGigabytesOfShard) {
  const TemporaryFolder folder;
  const std::vector<ShardEntries> shards = {
      MakeEntries("a", {UINT32_MAX, UINT32_MAX - 1, UINT32_MAX, 1})};
  ExpectLocations(Index::Open(WriteIndex(folder, shards)), shards);
}

TEST(IndexBytes, AreThoseOfTheDocument) {
  // The example of docs/format/index.md.
  const TemporaryFolder folder;
  const ByteBuffer bytes =
      ReadWholeFile(PosixFiles(), WriteIndex(folder, {MakeEntries("a.tfrecord", {5, 5, 5})}));
  ASSERT_EQ(bytes.size(), 0xb0u);
  EXPECT_EQ(AsText(ByteView(bytes).first(8)), "RECINDEX");
  EXPECT_EQ(LoadLittleEndian<uint32_t>(&bytes[0x14]), 0x22222222u);
  EXPECT_EQ(AsText(ByteView(bytes).subspan(0x20, 10)), "a.tfrecord");
  EXPECT_EQ(LoadLittleEndian<uint64_t>(&bytes[0x30]), 63u);
  EXPECT_EQ(LoadLittleEndian<uint64_t>(&bytes[0x58]), 0x10u);
  EXPECT_EQ(LoadLittleEndian<uint32_t>(&bytes[0x7c]), 5u);
  EXPECT_EQ(LoadLittleEndian<uint64_t>(&bytes[0x88]), 0x30u);
  EXPECT_EQ(LoadLittleEndian<uint32_t>(&bytes[0xa0]), 0xf965ba89u);
  EXPECT_EQ(LoadLittleEndian<uint32_t>(&bytes[0xa4]), 0xdf0a829au);
}

// --- damage ---

class IndexDamage : public testing::Test {
 protected:
  IndexDamage() {
    ShardEntries compressed = MakeEntries("packed", Rising(90));
    compressed.compression = Compression::kZlib;
    compressed.flush_points = {{.file_offset = 300, .first_record = 30}};
    path_ = WriteIndex(folder_, {MakeEntries("first", Rising(70)), MakeEntries("empty", {}),
                                 MakeEntries("equal", {5, 5, 5}), compressed});
    bytes_ = ReadWholeFile(PosixFiles(), path_);
  }

  // Opens `bytes` as an index and reads all of it if that succeeds.
  void Open(ByteView bytes) {
    PosixFiles().Remove(path_);
    PosixFiles().Create(path_)->Write(bytes);
    const Index index = Index::Open(path_);
    for (size_t s = 0; s < index.shard_count(); ++s) index.Entries(s);
    for (uint64_t i = 0; i < index.record_count(); ++i) index.Locate(i);
  }

  void ExpectCorrupt(ByteView bytes, const std::string& what) {
    try {
      Open(bytes);
      ADD_FAILURE() << "opened: " << what;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << what;
      EXPECT_EQ(error.place().path, path_);
      EXPECT_NE(error.advice().find("recpack index"), std::string::npos) << what;
    }
  }

  TemporaryFolder folder_;
  std::string path_;
  ByteBuffer bytes_;
};

TEST_F(IndexDamage, EveryPrefix) {
  for (size_t size = 0; size < bytes_.size(); ++size) {
    ExpectCorrupt(ByteView(bytes_).first(size), "prefix " + std::to_string(size));
  }
}

TEST_F(IndexDamage, TrailingBytes) {
  bytes_.push_back(0);
  ExpectCorrupt(bytes_, "one byte more");
}

TEST_F(IndexDamage, EveryFlippedBitOfHeaderDirectoryAndEnd) {
  const size_t directory = LoadLittleEndian<uint64_t>(bytes_.data() + bytes_.size() - 40);
  for (size_t bit = 0; bit < bytes_.size() * 8; ++bit) {
    const size_t byte = bit / 8;
    if (byte >= 16 && byte < directory) continue;
    bytes_[byte] ^= static_cast<uint8_t>(1 << bit % 8);
    ExpectCorrupt(bytes_, "bit " + std::to_string(bit));
    bytes_[byte] ^= static_cast<uint8_t>(1 << bit % 8);
  }
}

// Wrong lengths and offsets are detected at access, by the CRC of a record's length: this tests
// memory safety only.
TEST_F(IndexDamage, FlippedBitsOfTheRestAreSafe) {
  const size_t directory = LoadLittleEndian<uint64_t>(bytes_.data() + bytes_.size() - 40);
  for (size_t byte = 16; byte < directory; ++byte) {
    bytes_[byte] ^= 0x80;
    try {
      Open(bytes_);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    }
    bytes_[byte] ^= 0x80;
  }
}

TEST_F(IndexDamage, CountsThatNoFileCouldHold) {
  ShardEntries entries = MakeEntries("small", std::vector<uint32_t>(1000, 100));
  entries.file_bytes = 50;
  for (const auto compression : {Compression::kNone, Compression::kGzip}) {
    entries.compression = compression;
    WriteIndex(folder_, {entries});
    EXPECT_THROW(Index::Open(path_), Error);
  }
}

TEST_F(IndexDamage, NamesThatLeaveTheFolder) {
  for (const std::string name : {"", ".", "..", "a/b", "/etc/passwd"}) {
    WriteIndex(folder_, {MakeEntries(name, {1})});
    EXPECT_THROW(Index::Open(path_), Error) << name;
  }
}

TEST(IndexOpen, SaysThatAFileIsMissing) {
  try {
    Index::Open("/nowhere/index");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
  }
}

TEST(DaliIndex, IsALineARecord) {
  EXPECT_EQ(DaliIndexText(MakeEntries("a", {10, 0, 5})), "0 26\n26 16\n42 21\n");
  EXPECT_EQ(DaliIndexText(MakeEntries("a", {})), "");
  ShardEntries compressed = MakeEntries("a", {10});
  compressed.compression = Compression::kGzip;
  EXPECT_THROW(DaliIndexText(compressed), Error);
}

}  // namespace
}  // namespace recpack

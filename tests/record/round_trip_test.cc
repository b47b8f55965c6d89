// Round trips from writer to reader, with TensorFlow's bytes in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "tests/base/faulty_files.h"
#include "tests/base/temporary_folder.h"
#include "tests/record/memory_files.h"

namespace recpack {
namespace {

using testing::ElementsAreArray;

std::vector<ByteBuffer> MixedPayloads() {
  std::vector<ByteBuffer> payloads;
  for (const size_t size : {0u, 1u, 11u, 4096u, 70000u, 0u, 3u, 300000u, 5000u}) {
    payloads.push_back(MakePayloads(1, size, static_cast<uint32_t>(size))[0]);
  }
  return payloads;
}

class RoundTrip : public testing::TestWithParam<Compression> {};

TEST_P(RoundTrip, GivesPayloadsOrdinalsAndOffsets) {
  const auto payloads = MixedPayloads();
  const Shard shard =
      WriteShard(payloads, {.compression = GetParam(), .flush_interval = 5000, .buffer_bytes = 64});
  for (const size_t buffer : {1u, 5000u, 1u << 20}) {
    const Seen seen = ReadAll(shard.bytes, {.buffer_bytes = buffer});
    EXPECT_EQ(seen.compression, GetParam());
    EXPECT_THAT(seen.payloads, ElementsAreArray(payloads));
    EXPECT_TRUE(seen.damages.empty());
    uint64_t offset = 0;
    for (size_t i = 0; i < payloads.size(); ++i) {
      EXPECT_EQ(seen.ordinals[i], i);
      EXPECT_EQ(seen.offsets[i], offset);
      offset += payloads[i].size() + kFrameBytes;
    }
  }
}

TEST_P(RoundTrip, EntriesSayWhatWasWritten) {
  const auto payloads = MixedPayloads();
  const Shard shard = WriteShard(payloads, {.compression = GetParam(), .flush_interval = 5000});
  EXPECT_EQ(shard.entries.name, "shard");
  EXPECT_EQ(shard.entries.file_bytes, shard.bytes.size());
  EXPECT_EQ(shard.entries.compression, GetParam());
  ASSERT_EQ(shard.entries.lengths.size(), payloads.size());
  for (size_t i = 0; i < payloads.size(); ++i) {
    EXPECT_EQ(shard.entries.lengths[i], payloads[i].size());
  }
  EXPECT_EQ(shard.entries.flush_points.empty(), GetParam() == Compression::kNone);
}

TEST_P(RoundTrip, EmptyShardHasNoRecords) {
  const Shard shard = WriteShard({}, {.compression = GetParam()});
  EXPECT_TRUE(ReadAll(shard.bytes).payloads.empty());
}

TEST_P(RoundTrip, BytesDoNotDependOnBuffersOrOnBeginAndEnd) {
  const auto payloads = MixedPayloads();
  const WriterOptions options{.compression = GetParam(), .flush_interval = 9000, .digest = true};
  const Shard shard = WriteShard(payloads, options);
  ByteBuffer bytes;
  WriterOptions small = options;
  small.buffer_bytes = 1;
  RecordWriter writer(std::make_unique<MemoryWritable>(bytes), small);
  for (const ByteBuffer& payload : payloads) {
    const auto room = writer.Begin(payload.size());
    ASSERT_EQ(room.size(), payload.size());
    std::ranges::copy(payload, room.begin());
    writer.End();
  }
  EXPECT_FALSE(writer.digest());
  writer.Finish(true);
  EXPECT_EQ(bytes, shard.bytes);
  ASSERT_TRUE(writer.digest());
  Sha256 sha;
  sha.Update(bytes);
  EXPECT_EQ(*writer.digest(), sha.Finish());
}

TEST_P(RoundTrip, CompressedShardsBeginWithAFlushPoint) {
  if (GetParam() == Compression::kNone) return;
  const size_t header = GetParam() == Compression::kGzip ? 10 : 2;
  const ByteBuffer empty_stored_block = {0x00, 0x00, 0x00, 0xff, 0xff};
  for (const size_t records : {0u, 1u, 50u}) {
    const Shard shard = WriteShard(MakePayloads(records, 10), {.compression = GetParam()});
    ASSERT_EQ(shard.entries.flush_points.size(), 1u);
    EXPECT_EQ(shard.entries.flush_points[0].file_offset, header + 5);
    EXPECT_EQ(shard.entries.flush_points[0].first_record, 0u);
    EXPECT_TRUE(std::ranges::equal(std::span(shard.bytes).subspan(header, 5), empty_stored_block));
  }
}

TEST_P(RoundTrip, FlushPointsLieAtRecordsAndInflateAlone) {
  if (GetParam() == Compression::kNone) return;
  const auto payloads = MakePayloads(50, 1000);
  const Shard shard = WriteShard(payloads, {.compression = GetParam(), .flush_interval = 5000});
  ASSERT_GE(shard.entries.flush_points.size(), 9u);
  for (const FlushPoint& point : shard.entries.flush_points) {
    if (point.first_record == payloads.size()) continue;
    z_stream stream = {};
    ASSERT_EQ(inflateInit2(&stream, -15), Z_OK);
    ByteBuffer frame(kFrameHeaderBytes + 1000);
    stream.next_in = const_cast<Bytef*>(shard.bytes.data() + point.file_offset);
    stream.avail_in = static_cast<uInt>(shard.bytes.size() - point.file_offset);
    stream.next_out = frame.data();
    stream.avail_out = static_cast<uInt>(frame.size());
    inflate(&stream, Z_SYNC_FLUSH);
    inflateEnd(&stream);
    EXPECT_TRUE(FrameHeaderHolds(frame.data()));
    EXPECT_EQ(ByteBuffer(frame.begin() + kFrameHeaderBytes, frame.end()),
              payloads[point.first_record]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RoundTrip,
                         testing::Values(Compression::kNone, Compression::kGzip,
                                         Compression::kZlib),
                         [](const auto& each) { return CompressionName(each.param); });

TEST(Framing, BytesAreThoseOfTheDocument) {
  // The example of docs/format/tfrecord.md.
  const ByteBuffer expected = {0x03, 0,    0,   0,   0,   0,    0,    0,    0xb0, 0x99,
                               0x49, 0x0e, 'a', 'b', 'c', 0x6e, 0x57, 0xf1, 0x21};
  EXPECT_EQ(WriteShard({ByteBuffer{'a', 'b', 'c'}}).bytes, expected);
}

TEST(Writer, RefusesARecordThatAnIndexCannotHold) {
  ByteBuffer bytes;
  RecordWriter writer(std::make_unique<MemoryWritable>(bytes), {});
  try {
    writer.Begin(kMaxPayloadBytes + 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_EQ(error.place().path, "folder/shard");
  }
}

TEST(Writer, EndNeedsABegin) {
  ByteBuffer bytes;
  RecordWriter writer(std::make_unique<MemoryWritable>(bytes), {});
  EXPECT_THROW(writer.End(), Error);
}

// Otherwise a caller that continues after a full disk would get a file with a hole, or a wrong
// digest.
TEST(Writer, IsIncompleteForGoodOnceAWriteFailed) {
  const TemporaryFolder folder;
  for (const Compression compression : {Compression::kNone, Compression::kGzip}) {
    FaultyFiles files;
    files.room = 10'000;
    RecordWriter writer(files.Create(folder / "shard"),
                        {.compression = compression, .flush_interval = 1, .digest = true});
    const auto write_much = [&] {
      for (const ByteBuffer& payload : MakePayloads(30, 100'000)) writer.Write(payload);
    };
    EXPECT_THROW(write_much(), Error);
    files.room = INT64_MAX;
    EXPECT_THROW(write_much(), Error);
    EXPECT_THROW(writer.Finish(false), Error);
  }
}

TEST(Writer, IsFinishedOnce) {
  ByteBuffer bytes;
  RecordWriter writer(std::make_unique<MemoryWritable>(bytes), {.digest = true});
  writer.Write(AsBytes("a"));
  writer.Finish(false);
  const auto digest = writer.digest();
  EXPECT_THROW(writer.Finish(false), Error);
  EXPECT_EQ(writer.digest(), digest);
}

TEST(Writer, RefusesALevelThatZlibHasNot) {
  ByteBuffer bytes;
  EXPECT_THROW(RecordWriter(std::make_unique<MemoryWritable>(bytes),
                            {.compression = Compression::kGzip, .level = 17}),
               Error);
}

TEST(CompressionNames, ReadAsTheyAreWritten) {
  for (const auto compression : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    EXPECT_EQ(ParseCompression(CompressionName(compression)), compression);
  }
  EXPECT_EQ(ParseCompression("GZIP"), Compression::kGzip);
  EXPECT_EQ(ParseCompression(""), Compression::kNone);
  EXPECT_THROW(ParseCompression("snappy"), Error);
}

TEST(WriterTest, BringsBytesToTheDiskWhileMoreAreWritten) {
  const ByteBuffer payload(1'000'000);
  for (const bool start_sync : {false, true}) {
    ByteBuffer bytes;
    auto file = std::make_unique<MemoryWritable>(bytes);
    const MemoryWritable& seen = *file;
    RecordWriter writer(std::move(file), {.start_sync = start_sync});
    for (int i = 0; i < 21; ++i) writer.Write(payload);  // the last one stays buffered
    EXPECT_EQ(seen.started.size(), start_sync ? 4U : 0U);
    for (const size_t size : seen.started) EXPECT_EQ(size % (payload.size() + kFrameBytes), 0U);
    EXPECT_EQ(seen.syncs, 0);
  }
}

}  // namespace
}  // namespace recpack

// Tests of recovered flush points, and of bytes that only look like one.
#include "src/record/stream/flush_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "recpack/record/random_access_reader.h"
#include "tests/record/memory_files.h"
#include "tests/record/split_on_disk.h"

namespace recpack {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Part {
  ByteView bytes;
  int flush;
  int level = 6;
};

constexpr size_t kFlushPayload = 300;
constexpr size_t kFlushFrame = kFlushPayload + kFrameBytes;

class FlushPoints : public testing::TestWithParam<Compression> {
 protected:
  // Frames that are equal, so that each is best written as a reference to the one before.
  static ByteBuffer Frames(size_t count) {
    return WriteShard(std::vector<ByteBuffer>(count, MakePayloads(1, kFlushPayload)[0])).bytes;
  }

  static ByteBuffer Stream(const std::vector<Part>& parts) {
    ByteBuffer out(size_t{1} << 16);
    z_stream stream = {};
    const int window = GetParam() == Compression::kGzip ? 31 : 15;
    EXPECT_EQ(deflateInit2(&stream, parts[0].level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY),
              Z_OK);
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    for (const Part& part : parts) {
      EXPECT_EQ(deflateParams(&stream, part.level, Z_DEFAULT_STRATEGY), Z_OK);
      stream.next_in = const_cast<Bytef*>(part.bytes.data());
      stream.avail_in = static_cast<uInt>(part.bytes.size());
      EXPECT_EQ(deflate(&stream, part.flush), part.flush == Z_FINISH ? Z_STREAM_END : Z_OK);
    }
    out.resize(out.size() - stream.avail_out);
    deflateEnd(&stream);
    return out;
  }

  // Returns the ordinals of the records after the points found.
  static std::vector<uint64_t> Found(const ByteBuffer& bytes, size_t records) {
    // Without the CRCs of payloads, since tests overwrite payloads.
    const auto stream = ReadFlushedStream(MemoryReadable(bytes), GetParam(), false);
    if (!stream) return {};
    EXPECT_THAT(stream->frames.lengths, Each(kFlushPayload));
    EXPECT_EQ(stream->frames.lengths.size(), records);
    std::vector<uint64_t> ordinals;
    for (const auto& point : stream->flush_points) ordinals.push_back(point.first_record);
    return ordinals;
  }

  const ByteBuffer frames_ = Frames(3);
  const ByteView all_ = frames_;
  const ByteView first_ = all_.first(kFlushFrame);
  const ByteView others_ = all_.subspan(kFlushFrame);
};

TEST_P(FlushPoints, OfAnyStreamThatBeginsWithOneAreFound) {
  EXPECT_THAT(Found(Stream({{{}, Z_FULL_FLUSH}, {first_, Z_FULL_FLUSH}, {others_, Z_FINISH}}), 3),
              ElementsAre(0, 1));
}

TEST_P(FlushPoints, AreNotLookedForInOtherStreams) {
  EXPECT_THAT(Found(Stream({{first_, Z_FULL_FLUSH}, {others_, Z_FINISH}}), 3), IsEmpty());
  EXPECT_THAT(Found(Stream({{all_, Z_FINISH}}), 3), IsEmpty());
}

// A sync flush ends like a full one, but later data refers to earlier data.
TEST_P(FlushPoints, ThatNeedWhatStandsBeforeThemAreRefused) {
  EXPECT_THAT(Found(Stream({{{}, Z_FULL_FLUSH}, {first_, Z_SYNC_FLUSH}, {others_, Z_FINISH}}), 3),
              IsEmpty());
}

TEST_P(FlushPoints, WithinARecordAreLeftOut) {
  EXPECT_THAT(Found(Stream({{{}, Z_FULL_FLUSH},
                            {all_.first(100), Z_FULL_FLUSH},
                            {all_.subspan(100), Z_FINISH}}),
                    3),
              ElementsAre(0));
}

// Stored bytes look like a flush if a CRC equals its mark.
TEST_P(FlushPoints, AreToldFromBytesThatReadTheSame) {
  ByteBuffer frames = frames_;
  for (size_t end = kFlushFrame; end <= frames.size(); end += kFlushFrame) {
    std::ranges::copy(kFlushMark, frames.begin() + static_cast<int>(end - sizeof kFlushMark));
  }
  const ByteView bytes = frames;
  const ByteBuffer stream = Stream({{{}, Z_FULL_FLUSH, 0},
                                    {bytes.first(kFlushFrame), Z_BLOCK, 0},
                                    {bytes.subspan(kFlushFrame), Z_FINISH, 6}});
  const ByteView first = bytes.first(kFlushFrame);
  const auto at = std::search(stream.begin(), stream.end(), first.begin(), first.end());
  ASSERT_NE(at, stream.end()) << "the first frame is not stored";
  ASSERT_LT(stream.size(), 2 * kFlushFrame) << "the others do not refer to it";
  EXPECT_THAT(Found(stream, 3), ElementsAre(0));
}

TEST_P(FlushPoints, BehindAHeaderWithMorePartsAreNotOurs) {
  if (GetParam() != Compression::kGzip) return;
  ByteBuffer stream = Stream({{{}, Z_FULL_FLUSH}, {all_, Z_FINISH}});
  stream[3] = 8;  // a name follows
  stream.insert(stream.begin() + 10, {'a', 0});
  EXPECT_EQ(ReadAll(stream).payloads.size(), 3u);
  EXPECT_THAT(Found(stream, 3), IsEmpty());
}

TEST_P(FlushPoints, OfSeveralMembersAreNotOurs) {
  if (GetParam() != Compression::kGzip) return;
  const ByteBuffer member = Stream({{{}, Z_FULL_FLUSH}, {all_, Z_FINISH}});
  ByteBuffer two = member;
  two.insert(two.end(), member.begin(), member.end());
  EXPECT_EQ(ReadAll(two).payloads.size(), 6u);
  EXPECT_THAT(Found(two, 6), IsEmpty());
}

TEST_P(FlushPoints, OfDamagedStreamsAreNone) {
  const ByteBuffer stream =
      Stream({{{}, Z_FULL_FLUSH}, {first_, Z_FULL_FLUSH}, {others_, Z_FINISH}});
  for (size_t size = 0; size < stream.size(); ++size) {
    const ByteBuffer cut(stream.begin(), stream.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(ReadFlushedStream(MemoryReadable(cut), GetParam(), true)) << size;
  }
  // The time and system in gzip's header, from byte 4 on, do not matter.
  for (size_t at = GetParam() == Compression::kGzip ? 10 : 2; at < stream.size(); ++at) {
    ByteBuffer flipped = stream;
    flipped[at] ^= 1;
    EXPECT_FALSE(ReadFlushedStream(MemoryReadable(flipped), GetParam(), true)) << at;
  }
  ByteBuffer longer = stream;
  longer.push_back(0);
  EXPECT_FALSE(ReadFlushedStream(MemoryReadable(longer), GetParam(), true));
}

TEST_P(FlushPoints, OfAStreamThatEndsWithinARecordAreNone) {
  EXPECT_THAT(Found(Stream({{{}, Z_FULL_FLUSH}, {all_.first(700), Z_FINISH}}), 2), IsEmpty());
}

TEST_P(FlushPoints, AreThoseThatTheWriterTold) {
  for (const size_t records : {0u, 1u, 3u, 100u}) {
    for (const uint64_t interval : {uint64_t{1}, 3 * kFlushFrame, uint64_t{1} << 20}) {
      for (const int level : {1, 9}) {
        const Shard shard =
            WriteShard(std::vector<ByteBuffer>(records, MakePayloads(1, kFlushPayload)[0]),
                       {.compression = GetParam(), .level = level, .flush_interval = interval});
        const auto found = ReadFlushedStream(MemoryReadable(shard.bytes), GetParam(), true);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->frames.lengths, shard.entries.lengths);
        EXPECT_EQ(found->frames.crcs, shard.entries.crcs);
        EXPECT_EQ(found->flush_points, shard.entries.flush_points);
      }
    }
  }
}

// Needs more than one buffer of compressed and of inflated bytes.
TEST_P(FlushPoints, AreFoundInLongStreams) {
  auto payloads = MakePayloads(30, 70'000);
  payloads.resize(60, ByteBuffer(70'000));
  const Shard shard = WriteShard(payloads, {.compression = GetParam(), .flush_interval = 200'000});
  EXPECT_GT(shard.bytes.size(), size_t{2} << 20);
  const auto found = ReadFlushedStream(MemoryReadable(shard.bytes), GetParam(), true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->frames.lengths, shard.entries.lengths);
  EXPECT_EQ(found->frames.crcs, shard.entries.crcs);
  EXPECT_EQ(found->flush_points, shard.entries.flush_points);
}

TEST_P(FlushPoints, FoundAgainServeRandomAccess) {
  const SplitOnDisk split({MakePayloads(300, 1000)},
                          {.compression = GetParam(), .flush_interval = 5000});
  {
    IndexWriter index(PosixFiles().Create(split.index_path()));
    index.AddShard(ScanShard(PosixFiles(), split.shard_path(0), true));
    index.Finish(false);
  }
  RandomAccessReader source(split.index(), split.folder(), {.max_segment_bytes = 10'000});
  for (const uint64_t id : {299u, 0u, 150u, 4u, 298u}) {
    EXPECT_EQ(ByteBuffer(source.Get(id).payload().begin(), source.Get(id).payload().end()),
              split.payloads()[id]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FlushPoints, testing::Values(Compression::kGzip, Compression::kZlib),
                         [](const auto& each) { return CompressionName(each.param); });

}  // namespace
}  // namespace recpack

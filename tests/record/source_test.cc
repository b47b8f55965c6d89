// Contract of every backend of RandomAccessReader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>
#include <thread>

#include "recpack/base/error.h"
#include "recpack/base/permutation.h"
#include "recpack/record/random_access_reader.h"
#include "tests/base/error_of.h"
#include "tests/record/split_on_disk.h"

namespace recpack {
namespace {

using Backend = RandomAccessOptions::Backend;

// Equal lengths, varied ones with empty payloads between, an empty shard, one long record.
std::vector<std::vector<ByteBuffer>> MixedShards() {
  std::vector<std::vector<ByteBuffer>> shards = {MakePayloads(300, 100), {}, {}, {}};
  for (uint32_t i = 0; i < 200; ++i) shards[2].push_back(MakePayloads(1, i * 37 % 900, i)[0]);
  shards[3] = MakePayloads(2, 700'000, 9);
  return shards;
}

ByteBuffer Copy(ByteView bytes) { return {bytes.begin(), bytes.end()}; }

std::vector<uint64_t> Ordinals(uint64_t first, uint64_t count) {
  std::vector<uint64_t> ids(count);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

std::vector<uint64_t> Shuffled(uint64_t count) {
  const KeyedPermutation order(3, 0, count);
  std::vector<uint64_t> ids;
  for (uint64_t i = 0; i < count; ++i) ids.push_back(order(i));
  return ids;
}

void ExpectRecords(RandomAccessReader& source, std::span<const uint64_t> ids,
                   const std::vector<ByteBuffer>& payloads) {
  for (const uint64_t id : ids) ASSERT_EQ(Copy(source.Get(id).payload()), payloads[id]) << id;
}

void FlipByte(const std::string& path, uint64_t offset) {
  ByteBuffer bytes = ReadWholeFile(PosixFiles(), path);
  bytes.at(offset) ^= 0x40;
  WriteFileAtomically(PosixFiles(), path, bytes, false);
}

struct Case {
  const char* name;
  Backend backend;
  int threads;
  bool prefetch_cached;
};

class SourceContract : public testing::TestWithParam<Case> {
 protected:
  RandomAccessOptions Options() const {
    return {.backend = GetParam().backend,
            .threads = GetParam().threads,
            .prefetch_cached = GetParam().prefetch_cached};
  }
  RandomAccessReader Open(const SplitOnDisk& split) const { return Open(split, Options()); }
  static RandomAccessReader Open(const SplitOnDisk& split, RandomAccessOptions options) {
    return RandomAccessReader(split.index(), split.folder(), options);
  }
};

TEST_P(SourceContract, GetsEveryRecordInAnyOrder) {
  const SplitOnDisk split(MixedShards());
  RandomAccessReader source = Open(split);
  ASSERT_EQ(source.record_count(), 502u);
  ExpectRecords(source, Ordinals(0, 502), split.payloads());
  ExpectRecords(source, Shuffled(502), split.payloads());
}

TEST_P(SourceContract, GetsWhatWasPrefetchedInAnotherOrder) {
  const SplitOnDisk split(MixedShards());
  RandomAccessReader source = Open(split);
  const auto ids = Shuffled(502);
  for (size_t i = 0; i < ids.size(); i += 64) {
    auto batch = std::span(ids).subspan(i, std::min<size_t>(64, ids.size() - i));
    source.Prefetch(batch);
    std::vector<uint64_t> backwards(batch.rbegin(), batch.rend());
    ExpectRecords(source, backwards, split.payloads());
  }
}

TEST_P(SourceContract, PrefetchedNeighboursAndRepetitionsAndStrangersAreFine) {
  const SplitOnDisk split(MixedShards());
  RandomAccessReader source = Open(split);
  auto ids = Ordinals(0, 502);
  ids.push_back(7);
  ids.push_back(502);
  ids.push_back(UINT64_MAX);
  source.Prefetch(ids);
  source.Prefetch(ids);
  source.Prefetch({});
  ExpectRecords(source, Ordinals(0, 502), split.payloads());
  ExpectRecords(source, Ordinals(0, 502), split.payloads());
}

TEST_P(SourceContract, PrefetchBeyondItsMemoryIsLeftToGet) {
  const SplitOnDisk split(MixedShards());
  RandomAccessOptions options = Options();
  options.max_prefetched_bytes = 10'000;
  RandomAccessReader source = Open(split, options);
  for (int round = 0; round < 3; ++round) {
    source.Prefetch(Ordinals(0, 502));
    ExpectRecords(source, Shuffled(502), split.payloads());
  }
}

TEST_P(SourceContract, PrefetchedButForgottenRecordsMakeRoomInTheEnd) {
  const SplitOnDisk split({MakePayloads(3000, 100)});
  RandomAccessOptions options = Options();
  options.max_prefetched_bytes = 10'000;
  RandomAccessReader source = Open(split, options);
  for (uint64_t at = 0; at + 50 <= 3000; at += 50) {
    source.Prefetch(Ordinals(at, 50));
    ExpectRecords(source, Ordinals(2999 - at, 1), split.payloads());
    ExpectRecords(source, Ordinals(0, 100), split.payloads());
  }
}

TEST_P(SourceContract, ManySingleReadsAtOnce) {
  const SplitOnDisk split({MakePayloads(2000, 50)});
  RandomAccessReader source = Open(split);
  std::vector<uint64_t> ids;
  for (uint64_t id = 0; id < 2000; id += 2) ids.push_back(id);
  source.Prefetch(ids);
  ExpectRecords(source, Shuffled(2000), split.payloads());
}

TEST_P(SourceContract, RecordsOutliveTheirSource) {
  const SplitOnDisk split(MixedShards());
  OwnedRecord direct, prefetched;
  {
    RandomAccessReader source = Open(split);
    source.Prefetch(Ordinals(10, 5));
    prefetched = source.Get(12);
    direct = source.Get(400);
  }
  EXPECT_EQ(Copy(prefetched.payload()), split.payloads()[12]);
  EXPECT_EQ(Copy(direct.payload()), split.payloads()[400]);
}

TEST_P(SourceContract, ASourceMayGoWhileItsReadsAreUnderWay) {
  const SplitOnDisk split(MixedShards());
  for (int round = 0; round < 20; ++round) {
    RandomAccessReader source = Open(split);
    source.Prefetch(Shuffled(502));
  }
}

TEST_P(SourceContract, SourcesOfSeveralThreadsShareTheirFiles) {
  const SplitOnDisk split(MixedShards());
  RandomAccessOptions options = Options();
  options.max_open_files = 1;
  const RandomAccessReader first = Open(split, options);
  std::vector<int> equal(4);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < equal.size(); ++t) {
      threads.emplace_back([&, t, source = first.ForAnotherThread()]() mutable {
        const auto ids = Shuffled(502);
        source.Prefetch(ids);
        for (const uint64_t id : ids) {
          equal[t] += Copy(source.Get(id).payload()) == split.payloads()[id];
        }
      });
    }
  }
  EXPECT_THAT(equal, testing::Each(502));
}

TEST_P(SourceContract, OpenFilesAreBounded) {
  std::vector<std::vector<ByteBuffer>> shards;
  for (uint32_t i = 0; i < 100; ++i) shards.push_back(MakePayloads(2, 50, i));
  const SplitOnDisk split(shards);
  RandomAccessOptions options = Options();
  options.max_open_files = 5;
  RandomAccessReader source = Open(split, options);
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  ExpectRecords(source, Ordinals(0, 1), split.payloads());
  const auto before = open_files();
  ExpectRecords(source, Shuffled(200), split.payloads());
  EXPECT_LE(open_files(), before + 5);
}

TEST_P(SourceContract, AFileThatWasCutBeforeIsAnError) {
  const SplitOnDisk split(MixedShards());
  std::filesystem::resize_file(split.shard_path(0), 20'000);
  RandomAccessReader source = Open(split);
  source.Prefetch(Ordinals(0, 10));
  const Error error = ErrorOf([&] { source.Get(0); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.place().path, split.shard_path(0));
  ExpectRecords(source, Ordinals(300, 200), split.payloads());
}

TEST_P(SourceContract, AFileThatIsCutWhileOpenIsAnError) {
  const SplitOnDisk split({MakePayloads(300, 1000)});
  RandomAccessReader source = Open(split);
  ExpectRecords(source, Ordinals(299, 1), split.payloads());
  std::filesystem::resize_file(split.shard_path(0), 1016 * 100 + 500);
  ExpectRecords(source, Ordinals(0, 100), split.payloads());
  for (const uint64_t id : {100, 101, 299}) {
    for (const bool prefetch : {false, true}) {
      if (prefetch) source.Prefetch(Ordinals(id, 1));
      const Error error = ErrorOf([&] { source.Get(id); });
      EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
      EXPECT_EQ(error.place().path, split.shard_path(0));
      EXPECT_EQ(error.place().offset, id * 1016);
      EXPECT_EQ(error.place().ordinal, id);
    }
  }
}

TEST_P(SourceContract, AFileThatIsCutWhileOpenIsAnErrorEvenUnchecked) {
  const SplitOnDisk split({MakePayloads(300, 1000)});
  RandomAccessOptions unchecked = Options();
  unchecked.verify = false;
  RandomAccessReader source = Open(split, unchecked);
  ExpectRecords(source, Ordinals(299, 1), split.payloads());
  std::filesystem::resize_file(split.shard_path(0), 1016 * 100 + 500);
  ExpectRecords(source, Ordinals(0, 100), split.payloads());
  for (const uint64_t id : {100, 101, 299}) {
    EXPECT_EQ(ErrorOf([&] { source.Get(id); }).kind(), ErrorKind::kCorrupt);
  }
}

TEST_P(SourceContract, ACutRunStillGivesTheRecordsBeforeTheCut) {
  const SplitOnDisk split({MakePayloads(300, 1000)});
  RandomAccessReader source = Open(split);
  ExpectRecords(source, Ordinals(0, 1), split.payloads());
  std::filesystem::resize_file(split.shard_path(0), 1016 * 100 + 500);
  source.Prefetch(Ordinals(90, 20));
  ExpectRecords(source, Ordinals(90, 10), split.payloads());
  for (uint64_t id = 100; id < 110; ++id) {
    EXPECT_EQ(ErrorOf([&] { source.Get(id); }).place().ordinal, id);
  }
}

TEST_P(SourceContract, AMissingShardIsAnErrorThatNamesIt) {
  const SplitOnDisk split(MixedShards());
  std::filesystem::remove(split.shard_path(2));
  RandomAccessReader source = Open(split);
  source.Prefetch(Ordinals(290, 100));
  const Error error = ErrorOf([&] { source.Get(300); });
  EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
  EXPECT_EQ(error.place().path, split.shard_path(2));
  ExpectRecords(source, Ordinals(290, 10), split.payloads());
}

TEST_P(SourceContract, AnIndexOfAnotherShardOfTheSameSizeIsNoticed) {
  const SplitOnDisk split({MakePayloads(300, 1000)});
  const SplitOnDisk other({MakePayloads(150, 2016)});
  std::filesystem::copy_file(other.shard_path(0), split.shard_path(0),
                             std::filesystem::copy_options::overwrite_existing);
  RandomAccessReader source = Open(split);
  const Error error = ErrorOf([&] { source.Get(4); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.place().path, split.shard_path(0));
}

// Neither the size nor a length reveals the change.
TEST_P(SourceContract, AShardInThePlaceOfAnotherOfEqualLengthsIsNoticed) {
  const SplitOnDisk split({MakePayloads(300, 1000)});
  const SplitOnDisk other({MakePayloads(300, 1000, 7)});
  std::filesystem::copy_file(other.shard_path(0), split.shard_path(0),
                             std::filesystem::copy_options::overwrite_existing);
  RandomAccessReader source = Open(split);
  const Error error = ErrorOf([&] { source.Get(4); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.place().path, split.shard_path(0));
}

TEST_P(SourceContract, AFlippedBitInAPayloadIsNoticedUnlessUnchecked) {
  const SplitOnDisk split({MakePayloads(300, 1000)});
  FlipByte(split.shard_path(0), 1016 * 42 + 500);
  RandomAccessReader source = Open(split);
  source.Prefetch(Ordinals(40, 5));
  const Error error = ErrorOf([&] { source.Get(42); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.place().offset, 1016u * 42);
  EXPECT_EQ(error.place().ordinal, 42u);
  EXPECT_EQ(ErrorOf([&] { source.Get(42); }).place().ordinal, 42u);
  ExpectRecords(source, Ordinals(43, 10), split.payloads());

  RandomAccessOptions unchecked = Options();
  unchecked.verify = false;
  EXPECT_EQ(Open(split, unchecked).Get(42).payload().size(), 1000u);
}

TEST_P(SourceContract, AFlippedBitInALengthIsNoticed) {
  const SplitOnDisk split({MakePayloads(300, 1000)});
  FlipByte(split.shard_path(0), 1016 * 42 + 1);
  RandomAccessReader source = Open(split);
  EXPECT_EQ(ErrorOf([&] { source.Get(42); }).place().ordinal, 42u);
}

TEST_P(SourceContract, BeyondTheEndIsAnInvalidArgument) {
  const SplitOnDisk split(MixedShards());
  RandomAccessReader source = Open(split);
  EXPECT_EQ(ErrorOf([&] { source.Get(502); }).kind(), ErrorKind::kInvalidArgument);
}

TEST_P(SourceContract, CompressedShardsAreReadThroughTheirFlushPoints) {
  for (const Compression compression : {Compression::kGzip, Compression::kZlib}) {
    const SplitOnDisk split(MixedShards(),
                            {.compression = compression, .level = 1, .flush_interval = 5000});
    RandomAccessOptions options = Options();
    options.max_segment_bytes = 800'000;  // far below the sizes of the shards
    RandomAccessReader source = Open(split, options);
    source.Prefetch(Shuffled(502));
    ExpectRecords(source, Shuffled(502), split.payloads());
  }
}

TEST_P(SourceContract, RecordsLongerThanAStretchAreReadFromCompressedShards) {
  auto payloads = MakePayloads(7, 100);
  for (const size_t i : {1, 2, 5}) payloads[i] = MakePayloads(1, 40'000)[0];
  const SplitOnDisk split({payloads},
                          {.compression = Compression::kGzip, .level = 1, .flush_interval = 1000});
  RandomAccessOptions options = Options();
  options.max_segment_bytes = 2000;
  RandomAccessReader source = Open(split, options);
  ExpectRecords(source, Ordinals(0, 7), split.payloads());
}

TEST_P(SourceContract, ACutCompressedShardIsAnError) {
  const SplitOnDisk split({MakePayloads(300, 1000)},
                          {.compression = Compression::kGzip, .flush_interval = 5000});
  RandomAccessReader source = Open(split);
  ExpectRecords(source, Ordinals(0, 1), split.payloads());
  std::filesystem::resize_file(split.shard_path(0), 100'000);
  const Error error = ErrorOf([&] { source.Get(299); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.place().path, split.shard_path(0));
  EXPECT_TRUE(error.place().offset);
  EXPECT_EQ(error.place().ordinal, 299u);
  ExpectRecords(source, Ordinals(10, 20), split.payloads());
}

TEST_P(SourceContract, AForeignCompressedShardIsRefusedWithTheWayOut) {
  const SplitOnDisk split({MakePayloads(300, 1000)},
                          {.compression = Compression::kGzip, .flush_interval = UINT64_MAX});
  RandomAccessOptions options = Options();
  options.max_segment_bytes = 100'000;
  RandomAccessReader source = Open(split, options);
  const Error error = ErrorOf([&] { source.Get(5); });
  EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
  EXPECT_THAT(error.advice(), testing::HasSubstr("recpack pack"));
}

INSTANTIATE_TEST_SUITE_P(All, SourceContract,
                         testing::Values(Case{"automatic", Backend::kAutomatic, 0, false},
                                         Case{"pread", Backend::kPread, 0, true},
                                         Case{"threads", Backend::kPread, 3, true},
                                         Case{"io_uring", Backend::kIoUring, 0, true},
                                         Case{"mapped", Backend::kMapped, 0, true}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(SourceTest, SaysWhichBackendIsAtWork) {
  const SplitOnDisk split({MakePayloads(3, 10)});
  const auto backend = [&](Backend wish) {
    return RandomAccessReader(split.index(), split.folder(), {.backend = wish}).backend();
  };
  EXPECT_EQ(backend(Backend::kPread), Backend::kPread);
  EXPECT_EQ(backend(Backend::kMapped), Backend::kMapped);
  EXPECT_EQ(backend(Backend::kAutomatic), Backend::kPread);
  // Without io_uring in the kernel or the build, backend() reports the fallback.
  EXPECT_THAT(backend(Backend::kIoUring), testing::AnyOf(Backend::kIoUring, Backend::kPread));
}

}  // namespace
}  // namespace recpack

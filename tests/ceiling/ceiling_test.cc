#include "src/ceiling/ceiling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "recpack/base/file.h"
#include "recpack/record/writer.h"
#include "src/ceiling/pictures.h"
#include "src/ceiling/scratch_file.h"
#include "tests/base/address_space.h"
#include "tests/base/forked.h"
#include "tests/base/temporary_folder.h"
#include "tests/golden.h"

namespace recpack::ceiling {
namespace {

using testing::HasSubstr;

constexpr CeilingOptions kTwoThreads{.threads = 2, .time = std::chrono::milliseconds(20)};

TEST(Ceiling, MeasuresWhatNeedsNoData) {
  for (const Rate& rate : {CopyCeiling(kTwoThreads), StoreCeiling(kTwoThreads),
                           ComputeCeiling(kTwoThreads), CrcCeiling(3000, kTwoThreads)}) {
    EXPECT_TRUE(rate.measured()) << rate.unavailable;
    EXPECT_GT(rate.per_second, 0);
  }
  EXPECT_FALSE(CrcCeiling(0, kTwoThreads).measured());
  const CeilingOptions little{.threads = 2, .time = std::chrono::milliseconds(20), .memory = 1};
  EXPECT_GT(CopyCeiling(little).per_second, 0);
  EXPECT_GT(StoreCeiling(little).per_second, 0);
}

TEST(Ceiling, ReadsFilesAgainAndAgain) {
  const TemporaryFolder folder;
  const std::string path = folder / "data";
  WriteFileAtomically(PosixFiles(), path, ByteBuffer(100'000, uint8_t{7}), false);
  const std::vector<std::string> files = {path};
  EXPECT_GT(ReadCeiling(files, FileAccess::kCached, kTwoThreads).per_second, 100'000 / 0.02);
  const Rate direct = ReadCeiling(files, FileAccess::kDirect, kTwoThreads);
  EXPECT_NE(direct.measured(), direct.per_second == 0) << "measured, or says why not";
}

TEST(Ceiling, WhatCannotBeMeasuredSaysWhy) {
  EXPECT_THAT(ReadCeiling({}, FileAccess::kCached, kTwoThreads).unavailable, HasSubstr("no files"));
  const std::vector<std::string> missing = {"/nowhere/file"};
  EXPECT_THAT(ReadCeiling(missing, FileAccess::kCached, kTwoThreads).unavailable,
              HasSubstr("/nowhere/file"));
  const TemporaryFolder folder;
  const std::vector<std::string> empty = {folder / "empty"};
  WriteFileAtomically(PosixFiles(), empty[0], {}, false);
  EXPECT_THAT(ReadCeiling(empty, FileAccess::kCached, kTwoThreads).unavailable, HasSubstr("empty"));
  EXPECT_THAT(JpegCeiling({}, kTwoThreads).unavailable, HasSubstr("no JPEGs"));
  const ByteBuffer broken(100, uint8_t{0xff});
  const std::vector<ByteView> pictures = {broken};
  EXPECT_FALSE(JpegCeiling(pictures, kTwoThreads).measured());
}

// Simulates a container with few threads: those that have started must not wait for the others.
TEST(Ceiling, ThreadsThatCannotBeStartedAreToldOf) {
  if (!CanLimitAddressSpace()) GTEST_SKIP() << "address space has no limit here";
  EXPECT_EQ(InChild([] {
              LimitAddressSpace(256U << 20);  // enough for some stacks
              const Rate rate = ComputeCeiling({.threads = 4096, .time = kTwoThreads.time});
              return rate.unavailable.starts_with("4096 threads cannot be started: ");
            }),
            0);
}

TEST(Ceiling, InflatesShards) {
  const TemporaryFolder folder;
  for (const Compression compression : {Compression::kNone, Compression::kGzip}) {
    const std::string path = folder / CompressionName(compression);
    RecordWriter writer(PosixFiles().Create(path), {.compression = compression});
    for (int i = 0; i < 50; ++i) writer.Write(ByteBuffer(1000, static_cast<uint8_t>(i)));
    writer.Finish(false);
    const Rate rate = InflateCeiling(path, kTwoThreads);
    EXPECT_EQ(rate.measured(), compression == Compression::kGzip) << rate.unavailable;
  }
}

TEST(Ceiling, DecodesTheUsersPictures) {
  const ByteBuffer jpeg = ReadWholeFile(PosixFiles(), GoldenPath("image/real_420.jpg"));
  const std::vector<ByteView> pictures = {jpeg};
  const Rate rate = JpegCeiling(pictures, kTwoThreads);
  EXPECT_TRUE(rate.measured()) << rate.unavailable;
}

TEST(Ceiling, ReadsAtRandomPlaces) {
  const TemporaryFolder folder;
  const std::vector<std::string> files = {folder / "data", folder / "small"};
  WriteFileAtomically(PosixFiles(), files[0], ByteBuffer(100'000, uint8_t{7}), false);
  WriteFileAtomically(PosixFiles(), files[1], ByteBuffer(100, uint8_t{7}), false);
  const Rate rate = RandomReadCeiling(files, 4096, FileAccess::kCached, kTwoThreads);
  EXPECT_TRUE(rate.measured()) << rate.unavailable;
  EXPECT_GT(rate.per_second, 0);
  EXPECT_THAT(RandomReadCeiling({}, 4096, FileAccess::kCached, kTwoThreads).unavailable,
              HasSubstr("no files"));
  const std::vector<std::string> small = {files[1]};
  EXPECT_THAT(RandomReadCeiling(small, 4096, FileAccess::kCached, kTwoThreads).unavailable,
              HasSubstr("too small"));
}

// A file in memory only cannot be read cold, and must not give a disk rate.
TEST(Ceiling, FilesInMemoryAreNeverCold) {
  const ScratchFile memory = ScratchFile::InMemory(1 << 20);
  const std::vector<std::string> files = {memory.path()};
  EXPECT_TRUE(ReadCeiling(files, FileAccess::kCached, kTwoThreads).measured());
  const Rate dropped = ReadCeiling(files, FileAccess::kDropped, kTwoThreads);
  EXPECT_THAT(dropped.unavailable, HasSubstr("stays in memory"));
}

TEST(Ceiling, ReadsToTheEndsOfOddFilesPastThePageCache) {
  const TemporaryFolder folder;
  const std::vector<std::string> files = {folder / "one", folder / "two"};
  for (const std::string& file : files) {
    WriteFileAtomically(PosixFiles(), file, ByteBuffer(3'000'001, uint8_t{7}), false);
  }
  const Rate direct = ReadCeiling(files, FileAccess::kDirect, kTwoThreads);
  if (!direct.measured()) {
    EXPECT_THAT(direct.unavailable, HasSubstr("no direct access"));
  }
}

TEST(Spread, HoldsTheMiddleAndBothEnds) {
  std::vector<double> rates = {3, 1, 9};
  const Spread spread = MeasureSpread(3, [&] {
    const Rate rate{.per_second = rates.back()};
    rates.pop_back();
    return rate;
  });
  EXPECT_EQ((std::array{spread.value, spread.low, spread.high}), (std::array{3.0, 1.0, 9.0}));
  int calls = 0;
  const Spread none = MeasureSpread(3, [&] {
    ++calls;
    return Rate{.unavailable = "no disk"};
  });
  EXPECT_EQ(none.unavailable, "no disk");
  EXPECT_EQ(calls, 1);
}

TEST(Pictures, OfNoiseAreAsLargeAsPhotographs) {
  const auto pictures = NoisePictures(2, {500, 375}, 90);
  const std::vector<ByteView> views(pictures.begin(), pictures.end());
  EXPECT_EQ(CountPixels(views), 2 * 500 * 375);
  EXPECT_NE(pictures[0], pictures[1]);
  EXPECT_EQ(pictures, NoisePictures(2, {500, 375}, 90));
  for (const ByteBuffer& picture : pictures) {  // photographs have 1 to 6 bits per pixel
    EXPECT_GT(picture.size(), 500u * 375 / 8);
    EXPECT_LT(picture.size(), 500u * 375 * 3 / 4);
  }
  const auto smaller = ResizedPictures(views, 100);
  const std::vector<ByteView> small_views(smaller.begin(), smaller.end());
  EXPECT_EQ(CountPixels(small_views), 2 * 133 * 100);
  EXPECT_EQ(ResizedPictures(views, 400)[0], pictures[0]) << "none is made larger";
}

}  // namespace
}  // namespace recpack::ceiling

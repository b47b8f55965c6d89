#include "recpack/ceiling/ceiling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "recpack/base/file.h"
#include "recpack/record/writer.h"
#include "tests/base/temporary_folder.h"

namespace recpack {
namespace {

using testing::HasSubstr;

constexpr CeilingOptions kShort{.threads = 2, .time = std::chrono::milliseconds(20)};

TEST(Ceiling, MeasuresWhatNeedsNoData) {
  for (const Rate& rate : {CopyCeiling(kShort), StoreCeiling(kShort), ComputeCeiling(kShort),
                           CrcCeiling(3000, kShort)}) {
    EXPECT_TRUE(rate.measured()) << rate.unavailable;
    EXPECT_GT(rate.per_second, 0);
  }
  EXPECT_FALSE(CrcCeiling(0, kShort).measured());
}

TEST(Ceiling, ReadsFilesAgainAndAgain) {
  const TemporaryFolder folder;
  const std::string path = folder / "data";
  WriteFileAtomically(PosixFiles(), path, ByteBuffer(100'000, uint8_t{7}), false);
  const std::vector<std::string> files = {path};
  EXPECT_GT(ReadCeiling(files, FileAccess::kCached, kShort).per_second, 100'000 / 0.02);
  const Rate direct = ReadCeiling(files, FileAccess::kDirect, kShort);
  EXPECT_NE(direct.measured(), direct.per_second == 0) << "measured, or says why not";
}

TEST(Ceiling, WhatCannotBeMeasuredSaysWhy) {
  EXPECT_THAT(ReadCeiling({}, FileAccess::kCached, kShort).unavailable, HasSubstr("no files"));
  const std::vector<std::string> missing = {"/nowhere/file"};
  EXPECT_THAT(ReadCeiling(missing, FileAccess::kCached, kShort).unavailable,
              HasSubstr("/nowhere/file"));
  const TemporaryFolder folder;
  const std::vector<std::string> empty = {folder / "empty"};
  WriteFileAtomically(PosixFiles(), empty[0], {}, false);
  EXPECT_THAT(ReadCeiling(empty, FileAccess::kCached, kShort).unavailable, HasSubstr("empty"));
  EXPECT_THAT(JpegCeiling({}, kShort).unavailable, HasSubstr("no JPEGs"));
  const ByteBuffer broken(100, uint8_t{0xff});
  const std::vector<ByteView> pictures = {broken};
  EXPECT_FALSE(JpegCeiling(pictures, kShort).measured());
}

TEST(Ceiling, InflatesShards) {
  const TemporaryFolder folder;
  for (const Compression compression : {Compression::kNone, Compression::kGzip}) {
    const std::string path = folder / CompressionName(compression);
    RecordWriter writer(PosixFiles().Create(path), {.compression = compression});
    for (int i = 0; i < 50; ++i) writer.Write(ByteBuffer(1000, static_cast<uint8_t>(i)));
    writer.Finish(false);
    const Rate rate = InflateCeiling(path, kShort);
    EXPECT_EQ(rate.measured(), compression == Compression::kGzip) << rate.unavailable;
  }
}

TEST(Ceiling, DecodesTheUsersPictures) {
  const ByteBuffer jpeg =
      ReadWholeFile(PosixFiles(), std::string(RECPACK_GOLDEN_DIR) + "/image/real_420.jpg");
  const std::vector<ByteView> pictures = {jpeg};
  const Rate rate = JpegCeiling(pictures, kShort);
  EXPECT_TRUE(rate.measured()) << rate.unavailable;
}

}  // namespace
}  // namespace recpack

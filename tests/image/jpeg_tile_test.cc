#include "recpack/image/jpeg_tile.h"

#include <gtest/gtest.h>

#include "recpack/base/error.h"
#include "recpack/image/decode.h"
#include "recpack/image/encode.h"
#include "recpack/image/header.h"
#include "src/image/jpeg/jpeg_markers.h"
#include "tests/image/samples.h"

namespace recpack {
namespace {

// Returns all JPEG samples that can be tiled.
std::vector<std::string> TileableSamples() {
  std::vector<std::string> names = SampleNames(".jpg");
  std::erase(names, "arithmetic.jpg");
  std::erase(names, "incomplete.jpg");
  return names;
}

// Returns the payloads of APPn and COM segments, and the restart interval.
struct Marks {
  std::vector<ByteBuffer> kept;
  int interval = 0;
  uint8_t frame = 0;
};

Marks MarksOf(const ByteBuffer& jpeg) {
  Marks marks;
  JpegSegments segments(jpeg);
  for (JpegSegment s = segments.Next(); s.marker != jpeg_marker::kSos; s = segments.Next()) {
    if (s.marker >= jpeg_marker::kApp0) {
      marks.kept.emplace_back(jpeg.begin() + s.offset, jpeg.begin() + s.end);
    }
    if (s.marker == jpeg_marker::kDri) marks.interval = BigEndian16(s.payload.data());
    if (IsStartOfFrame(s.marker)) marks.frame = s.marker;
  }
  return marks;
}

ErrorKind TileErrorKind(ByteView bytes, const TileOptions& options = {}) {
  try {
    TileJpeg(bytes, options);
  } catch (const Error& error) {
    EXPECT_FALSE(error.reason().empty());
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::kIo;
}

TEST(JpegTileTest, PixelsStayAsTheyWere) {
  ASSERT_GE(TileableSamples().size(), 20u);
  for (const std::string& name : TileableSamples()) {
    const ByteBuffer original = Sample(name);
    for (const int target : {0, 16, 64}) {
      const ByteBuffer tiled = TileJpeg(original, {.target_pixels = target});
      EXPECT_EQ(DecodeImage(tiled), DecodeImage(original)) << name;
    }
  }
}

TEST(JpegTileTest, TheResultIsSequentialWithRestartsThatDivideARow) {
  for (const auto& [name, interval] : std::vector<std::pair<std::string, int>>{
           {"real_420.jpg", 5},           // 5 MCUs of 16 pixels: the row, 1 is too narrow
           {"real_444.jpg", 10},          // 20 MCUs of 8 pixels
           {"real_gray.jpg", 23},         // 23 blocks: a prime number
           {"progressive.jpg", 4},        // 12 MCUs of 16 pixels
           {"progressive_gray.jpg", 23},  // 23 blocks
           {"sampled_gray_2x2.jpg", 23},  // one component: its MCU is one block
           {"sampled_411.jpg", 2},        // 6 MCUs of 32 pixels
           {"scans.jpg", 4},              // had an interval of its own
           {"prime.jpg", 31}}) {
    const Marks marks = MarksOf(TileJpeg(Sample(name)));
    EXPECT_EQ(marks.interval, interval) << name;
    EXPECT_EQ(marks.frame, jpeg_marker::kSof0) << name;
  }
  EXPECT_EQ(MarksOf(TileJpeg(Sample("coarse.jpg"))).frame, jpeg_marker::kSof1);
}

TEST(JpegTileTest, KeepsExifProfilesAndComments) {
  for (const std::string& name : TileableSamples()) {
    const ByteBuffer original = Sample(name);
    EXPECT_EQ(MarksOf(TileJpeg(original)).kept, MarksOf(original).kept) << name;
  }
  EXPECT_EQ(ReadImageHeader(TileJpeg(Sample("orientation6.jpg"))).orientation, 6);
  EXPECT_NE(AsText(TileJpeg(Sample("real_icc.jpg"))).find("ICC_PROFILE"), std::string_view::npos);
}

TEST(JpegTileTest, TilingTwiceIsTilingOnce) {
  for (const std::string& name : TileableSamples()) {
    const ByteBuffer tiled = TileJpeg(Sample(name));
    EXPECT_EQ(TileJpeg(tiled), tiled) << name;
    EXPECT_EQ(TileJpeg(Sample(name)), tiled) << name;
  }
}

TEST(JpegTileTest, RealFilesHardlyGrow) {
  size_t before = 0, after = 0;
  for (const char* name : {"real_422.jpg", "real_444.jpg", "real_gray.jpg", "real_icc.jpg"}) {
    before += Sample(name).size();
    after += TileJpeg(Sample(name)).size();
  }
  EXPECT_LT(static_cast<double>(after), 1.02 * static_cast<double>(before));
}

TEST(JpegTileTest, WidestJpegsFitTheInterval) {
  Image wide;
  wide.Reshape(65500, 2, 1);
  std::fill(wide.pixels.begin(), wide.pixels.end(), 7);
  const ByteBuffer tiled = TileJpeg(EncodeJpeg(wide), {.target_pixels = 0});
  EXPECT_EQ(MarksOf(tiled).interval, (65500 + 7) / 8);
  EXPECT_EQ(DecodeImage(tiled).width, 65500);
}

TEST(JpegTileTest, DropsWhatFollowsTheEndMark) {
  ByteBuffer bytes = Sample("real_420.jpg");
  const ByteBuffer tiled = TileJpeg(bytes);
  bytes.insert(bytes.end(), 100, 0xAB);
  EXPECT_EQ(TileJpeg(bytes), tiled);
}

TEST(JpegTileTest, ArithmeticCodingIsUnsupported) {
  EXPECT_EQ(TileErrorKind(Sample("arithmetic.jpg")), ErrorKind::kUnsupported);
}

// Decoders smooth such files, but not sequential ones.
TEST(JpegTileTest, MissingScansAreUnsupported) {
  EXPECT_EQ(TileErrorKind(Sample("incomplete.jpg")), ErrorKind::kUnsupported);
}

TEST(JpegTileTest, TwelveBitsAndLosslessAreUnsupported) {
  const ByteBuffer good = Sample("real_420.jpg");
  const size_t frame = AsText(good).find(std::string_view("\xFF\xC0", 2));
  ByteBuffer bytes = good;
  bytes[frame + 4] = 12;
  EXPECT_EQ(TileErrorKind(bytes), ErrorKind::kUnsupported);
  bytes = good;
  bytes[frame + 1] = 0xC3;
  EXPECT_EQ(TileErrorKind(bytes), ErrorKind::kUnsupported);
}

TEST(JpegTileTest, OtherFormatsAndLargeImagesAreUnsupported) {
  EXPECT_EQ(TileErrorKind(Sample("rgb.png")), ErrorKind::kUnsupported);
  EXPECT_EQ(TileErrorKind({}), ErrorKind::kUnsupported);
  EXPECT_EQ(TileErrorKind(Sample("real_420.jpg"), {.max_pixels = 100}), ErrorKind::kUnsupported);
}

TEST(JpegTileTest, EveryPrefixIsCorrupt) {
  for (const char* name : {"real_420.jpg", "progressive.jpg"}) {
    const ByteBuffer whole = Sample(name);
    for (size_t size = 2; size < whole.size(); size += size + 10 < whole.size() ? 5 : 1) {
      EXPECT_EQ(TileErrorKind(Prefix(whole, size)), ErrorKind::kCorrupt) << name << " " << size;
    }
  }
}

// A flipped bit may give another valid image, which must then be preserved.
TEST(JpegTileTest, FlippedBitsAreErrorsOrKept) {
  const ByteBuffer good = Sample("real_420.jpg");
  for (size_t bit = 16; bit < good.size() * 8; bit += 13) {
    ByteBuffer bytes = good;
    bytes[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    try {
      const ByteBuffer tiled = TileJpeg(bytes, {.max_pixels = 1 << 20});
      EXPECT_EQ(DecodeImage(tiled), DecodeImage(bytes)) << bit;
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported);
    }
  }
}

TEST(JpegTileTest, ChoosesTheNearestDivisor) {
  EXPECT_EQ(ChooseRestartInterval(32, 16, 64), 4);
  EXPECT_EQ(ChooseRestartInterval(63, 8, 64), 9);  // 72 is nearer than 56, by ratio
  EXPECT_EQ(ChooseRestartInterval(24, 8, 64), 8);
  EXPECT_EQ(ChooseRestartInterval(31, 16, 64), 31);  // prime: the row
  EXPECT_EQ(ChooseRestartInterval(62, 16, 64), 2);   // 32 pixels; 31 would be 496
  EXPECT_EQ(ChooseRestartInterval(62, 8, 64), 31);   // 248 pixels; 2 would be 16
  EXPECT_EQ(ChooseRestartInterval(6, 8, 64), 6);     // 48 pixels
  EXPECT_EQ(ChooseRestartInterval(2, 8, 64), 2);     // a narrow image
  EXPECT_EQ(ChooseRestartInterval(32, 16, 0), 32);
  EXPECT_EQ(ChooseRestartInterval(1, 16, 64), 1);
}

}  // namespace
}  // namespace recpack

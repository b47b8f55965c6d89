#include "recpack/image/header.h"

#include <gtest/gtest.h>

#include "recpack/base/error.h"
#include "tests/image/samples.h"

namespace recpack {
namespace {

ErrorKind HeaderErrorKind(ByteView bytes) {
  try {
    ReadImageHeader(bytes);
  } catch (const Error& error) {
    EXPECT_TRUE(error.place().offset.has_value());
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::kIo;
}

void ExpectHeader(const std::string& name, ImageFormat format, int width, int height,
                  int channels) {
  SCOPED_TRACE(name);
  const ImageHeader header = ReadImageHeader(Sample(name));
  EXPECT_EQ(header.format, format);
  EXPECT_EQ(header.width, width);
  EXPECT_EQ(header.height, height);
  EXPECT_EQ(header.channels, channels);
}

TEST(ImageHeaderTest, ReadsJpegHeaders) {
  ExpectHeader("real_420.jpg", ImageFormat::kJpeg, 75, 56, 3);
  ExpectHeader("real_gray.jpg", ImageFormat::kJpeg, 183, 280, 1);
  ExpectHeader("cmyk.jpg", ImageFormat::kJpeg, 90, 70, 4);
  EXPECT_FALSE(ReadImageHeader(Sample("real_420.jpg")).progressive);
  EXPECT_TRUE(ReadImageHeader(Sample("progressive.jpg")).progressive);
  EXPECT_FALSE(ReadImageHeader(Sample("arithmetic.jpg")).progressive);
}

TEST(ImageHeaderTest, ReadsPngHeaders) {
  ExpectHeader("rgb.png", ImageFormat::kPng, 40, 32, 3);
  ExpectHeader("rgba.png", ImageFormat::kPng, 40, 32, 4);
  ExpectHeader("la.png", ImageFormat::kPng, 40, 32, 2);
  ExpectHeader("palette.png", ImageFormat::kPng, 40, 32, 3);
  ExpectHeader("gray16.png", ImageFormat::kPng, 40, 32, 1);
  EXPECT_EQ(ReadImageHeader(Sample("gray16.png")).bit_depth, 16);
  EXPECT_EQ(ReadImageHeader(Sample("bit.png")).bit_depth, 1);
  EXPECT_TRUE(ReadImageHeader(Sample("adam7.png")).progressive);
}

TEST(ImageHeaderTest, ReadsTheSizesOfOtherFormats) {
  ExpectHeader("small.gif", ImageFormat::kGif, 20, 11, 3);
  ExpectHeader("small.bmp", ImageFormat::kBmp, 20, 11, 3);
  ExpectHeader("lossy.webp", ImageFormat::kWebp, 20, 11, 3);
  ExpectHeader("lossless.webp", ImageFormat::kWebp, 20, 11, 3);
  EXPECT_EQ(ReadImageHeader(Sample("extended.webp")).width, 20);
}

TEST(ImageHeaderTest, ReadsTheOrientation) {
  for (int i = 1; i <= 8; ++i) {
    const auto bytes = Sample("orientation" + std::to_string(i) + ".jpg");
    EXPECT_EQ(ReadImageHeader(bytes).orientation, i);
  }
  EXPECT_EQ(ReadImageHeader(Sample("real_420.jpg")).orientation, 1);
  EXPECT_EQ(ReadImageHeader(Sample("exif6.png")).orientation, 6);
}

TEST(ImageHeaderTest, BrokenExifIsUpright) {
  const ByteBuffer good = Sample("orientation6.jpg");
  const auto exif = AsText(good).find("Exif");
  ASSERT_NE(exif, std::string_view::npos);
  for (size_t i = 0; i < 26; ++i) {
    ByteBuffer bytes = good;
    bytes[exif + 6 + i] = 0xFF;
    const int orientation = ReadImageHeader(bytes).orientation;
    EXPECT_TRUE(orientation >= 1 && orientation <= 8) << i;
  }
}

// As cameras and editors leave it: the first entries still count.
TEST(ImageHeaderTest, ExifThatNamesMoreEntriesThanItHas) {
  ByteBuffer bytes = Sample("orientation6.jpg");
  const auto tiff = AsText(bytes).find("Exif") + 6;
  const size_t directory = tiff + 8, high = bytes[tiff] == 'M' ? directory : directory + 1;
  bytes[high] = 0xFF;
  EXPECT_EQ(ReadImageHeader(bytes).orientation, 6);
}

TEST(ImageHeaderTest, UnknownBytesAreNoError) {
  EXPECT_EQ(ReadImageHeader({}).format, ImageFormat::kUnknown);
  for (const char* text : {"hello", "BM, not a bitmap", "RIFF....WAVE", "\xFF", "GIF", "\x89PN"}) {
    EXPECT_EQ(ReadImageHeader(AsBytes(text)).format, ImageFormat::kUnknown) << text;
  }
  EXPECT_STREQ(ImageFormatName(ImageFormat::kUnknown), "unknown");
  EXPECT_STREQ(ImageFormatName(ImageFormat::kJpeg), "jpeg");
}

TEST(ImageHeaderTest, EveryCutInsideTheHeaderIsCorrupt) {
  for (const char* name : {"real_420.jpg", "rgb.png", "small.gif", "small.bmp", "lossy.webp"}) {
    const ByteBuffer whole = Sample(name);
    bool complete = false;
    for (size_t size = 14; size < whole.size(); ++size) {
      try {
        EXPECT_EQ(ReadImageHeader(Prefix(whole, size)).height, ReadImageHeader(whole).height);
        complete = true;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
        EXPECT_FALSE(complete) << name << " cut to " << size;
      }
    }
    EXPECT_TRUE(complete);
  }
}

TEST(ImageHeaderTest, JpegWithoutAFrameIsCorrupt) {
  EXPECT_EQ(HeaderErrorKind(ByteBuffer{0xFF, 0xD8, 0xFF, 0xD9}), ErrorKind::kCorrupt);
  EXPECT_EQ(HeaderErrorKind(ByteBuffer{0xFF, 0xD8, 0xFF, 0xDA, 0, 2}), ErrorKind::kCorrupt);
}

TEST(ImageHeaderTest, JpegSegmentWithAnImpossibleLengthIsCorrupt) {
  EXPECT_EQ(HeaderErrorKind(ByteBuffer{0xFF, 0xD8, 0xFF, 0xE0, 0, 1, 0, 0}), ErrorKind::kCorrupt);
}

// Frame header of a 1-component JPEG, in which tests corrupt one field.
ByteBuffer Frame() { return {0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 4, 0, 5, 1, 1, 0x11, 0}; }

TEST(ImageHeaderTest, JpegFramesThatContradictThemselves) {
  EXPECT_EQ(ReadImageHeader(Frame()).width, 5);
  const auto with = [](size_t at, uint8_t value) {
    ByteBuffer bytes = Frame();
    bytes[at] = value;
    return HeaderErrorKind(bytes);
  };
  EXPECT_EQ(with(8, 0), ErrorKind::kUnsupported);  // height 0: follows the first scan
  EXPECT_EQ(with(10, 0), ErrorKind::kCorrupt);     // width 0
  EXPECT_EQ(with(11, 0), ErrorKind::kCorrupt);     // no components
  EXPECT_EQ(with(11, 2), ErrorKind::kCorrupt);     // more components than there is room for
  EXPECT_EQ(with(13, 0x01), ErrorKind::kCorrupt);  // sampling factor 0
  EXPECT_EQ(with(13, 0x51), ErrorKind::kCorrupt);  // sampling factor 5
  EXPECT_EQ(with(5, 7), ErrorKind::kCorrupt);      // too short
}

TEST(ImageHeaderTest, PngHeadersThatContradictThemselves) {
  const auto with = [](size_t at, uint8_t value) {
    ByteBuffer bytes = Sample("rgb.png");
    bytes[at] = value;
    return HeaderErrorKind(bytes);
  };
  EXPECT_EQ(with(4, '\n'), ErrorKind::kCorrupt);   // line ends changed
  EXPECT_EQ(with(12, 'X'), ErrorKind::kCorrupt);   // no IHDR
  EXPECT_EQ(with(16, 0xFF), ErrorKind::kCorrupt);  // width above 2^31
  EXPECT_EQ(with(19, 0), ErrorKind::kCorrupt);     // width 0
  EXPECT_EQ(with(25, 5), ErrorKind::kCorrupt);     // no such colour type
}

}  // namespace
}  // namespace recpack

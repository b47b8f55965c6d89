// Tests of AVIFs: headers, pixels, damage. Pixels need libavif on the machine.
#include <gtest/gtest.h>

#include <string>

#include "recpack/base/error.h"
#include "recpack/image/decode.h"
#include "recpack/image/header.h"
#include "tests/image/differences.h"
#include "tests/image/samples.h"

namespace recpack {
namespace {

TEST(AvifTest, ReadsHeaders) {
  const auto expect = [](const char* name, int width, int height, int channels) {
    const ImageHeader header = ReadImageHeader(Sample(name));
    EXPECT_EQ(header.format, ImageFormat::kAvif) << name;
    EXPECT_EQ(header.width, width) << name;
    EXPECT_EQ(header.height, height) << name;
    EXPECT_EQ(header.channels, channels) << name;
    EXPECT_EQ(header.bit_depth, 8) << name;
    EXPECT_EQ(header.orientation, 1) << name;
  };
  expect("photo.avif", 61, 45, 3);
  expect("gray.avif", 61, 45, 1);
  expect("alpha.avif", 61, 45, 4);
  EXPECT_STREQ(ImageFormatName(ImageFormat::kAvif), "avif");
}

TEST(AvifTest, TurnsAndMirrorsAsExifWould) {
  for (int i = 2; i <= 8; ++i) {
    const std::string name = "orientation" + std::to_string(i) + ".avif";
    EXPECT_EQ(ReadImageHeader(Sample(name)).orientation, i);
  }
  const Image stored = DecodeImage(Sample("orientation6.avif"));
  EXPECT_EQ(stored.width, 16);
  EXPECT_EQ(DecodeImage(Sample("orientation6.avif"), {.apply_orientation = true}),
            ApplyOrientation(stored, 6));
}

// Pillow's build of libavif converts YUV by another library, with other roundings.
TEST(AvifTest, PixelsAreNearlyThoseOfPillow) {
  for (const char* name : {"photo", "full", "gray", "alpha"}) {
    const Image image = DecodeImage(Sample(std::string(name) + ".avif"));
    const int distance = LargestDifference(
        image, DecodeImage(Sample("avif_" + std::string(name) + ".expected.png")));
    EXPECT_GE(distance, 0) << name;
    EXPECT_LE(distance, 4) << name;
  }
}

TEST(AvifTest, OneChannelIsTheLuma) {
  const Image gray = DecodeImage(Sample("gray.avif"), {.layout = PixelLayout::kOne});
  const Image rgb = DecodeImage(Sample("gray.avif"));
  ASSERT_EQ(gray.channels, 1);
  for (size_t i = 0; i < rgb.pixels.size(); ++i) ASSERT_EQ(rgb.pixels[i], gray.pixels[i / 3]);
}

TEST(AvifTest, RefusesSequencesAndLargeImages) {
  EXPECT_EQ(DecodeErrorKind(Sample("animated.avif")), ErrorKind::kUnsupported);
  EXPECT_EQ(DecodeErrorKind(Sample("photo.avif"), {.max_pixels = 100}), ErrorKind::kUnsupported);
}

TEST(AvifTest, EveryCutIsCorrupt) {
  const ByteBuffer whole = Sample("photo.avif");
  for (size_t size = 32; size < whole.size(); size += 7) {
    EXPECT_EQ(DecodeErrorKind(Prefix(whole, size)), ErrorKind::kCorrupt) << size;
  }
}

}  // namespace
}  // namespace recpack

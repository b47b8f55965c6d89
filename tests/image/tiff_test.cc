// Tests of TIFFs: headers, pixels of each kind, damage. Pixels need libtiff on the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "recpack/base/error.h"
#include "recpack/image/decode.h"
#include "recpack/image/header.h"
#include "tests/image/differences.h"
#include "tests/image/samples.h"

namespace recpack {
namespace {

TEST(TiffTest, ReadsHeaders) {
  const auto expect = [](const char* name, int channels, int bits, int orientation) {
    const ImageHeader header = ReadImageHeader(Sample(name));
    EXPECT_EQ(header.format, ImageFormat::kTiff) << name;
    EXPECT_EQ(header.width, 61) << name;
    EXPECT_EQ(header.height, 45) << name;
    EXPECT_EQ(header.channels, channels) << name;
    EXPECT_EQ(header.bit_depth, bits) << name;
    EXPECT_EQ(header.orientation, orientation) << name;
  };
  expect("raw.tif", 3, 8, 1);
  expect("big.tif", 3, 8, 1);
  expect("gray16.tif", 1, 16, 1);
  expect("bit.tif", 1, 1, 1);
  expect("rgba.tif", 4, 8, 1);
  expect("cmyk.tif", 4, 8, 1);
  expect("palette.tif", 3, 8, 1);
  expect("orientation6.tif", 3, 8, 6);
  EXPECT_STREQ(ImageFormatName(ImageFormat::kTiff), "tiff");
}

// Camera files are packed as they are, and not taken for the small picture that they begin with.
TEST(TiffTest, RawFilesOfCamerasAreNoTiffs) {
  ByteBuffer bytes = Sample("lzw.tif");
  const size_t directory = LoadLittleEndian<uint32_t>(&bytes[4]);
  const uint16_t entries = LoadLittleEndian<uint16_t>(&bytes[directory]);
  const auto with_tag = [&](uint16_t tag) {  // in place of PlanarConfiguration, of the value 1
    ByteBuffer changed = bytes;
    for (size_t i = 0; i < entries; ++i) {
      uint8_t* const entry = &changed[directory + 2 + 12 * i];
      if (LoadLittleEndian<uint16_t>(entry) != 284) continue;
      entry[0] = static_cast<uint8_t>(tag & 255);
      entry[1] = static_cast<uint8_t>(tag >> 8);
      return changed;
    }
    ADD_FAILURE() << "no such tag";
    return changed;
  };
  EXPECT_EQ(ReadImageHeader(with_tag(284)).format, ImageFormat::kTiff);
  EXPECT_EQ(ReadImageHeader(with_tag(254)).format, ImageFormat::kUnknown);
  EXPECT_EQ(ReadImageHeader(with_tag(50706)).format, ImageFormat::kUnknown);
  bytes[8] = 'C';
  bytes[9] = 'R';
  EXPECT_EQ(ReadImageHeader(bytes).format, ImageFormat::kUnknown);
}

TEST(TiffTest, PixelsAreThoseOfPillow) {
  for (const std::string name :
       {"raw", "lzw", "zlib", "cmyk", "gray", "bit", "palette", "rgba", "tiles", "planes", "big",
        "white", "orientation6", "rgb16", "gray16"}) {
    const Image expected = DecodeImage(Sample("tiff_" + name + ".expected.png"));
    EXPECT_EQ(LargestDifference(DecodeImage(Sample(name + ".tif")), expected), 0) << name;
  }
  // Pillow has another build of libjpeg inside.
  const Image jpeg = DecodeImage(Sample("jpeg.tif"));
  const int distance = LargestDifference(jpeg, DecodeImage(Sample("tiff_jpeg.expected.png")));
  EXPECT_GE(distance, 0);
  EXPECT_LE(distance, 2);
}

TEST(TiffTest, AppliesTheOrientation) {
  const Image stored = DecodeImage(Sample("orientation6.tif"));
  EXPECT_EQ(DecodeImage(Sample("orientation6.tif"), {.apply_orientation = true}),
            ApplyOrientation(stored, 6));
}

TEST(TiffTest, OneChannel) {
  const DecodeOptions one{.layout = PixelLayout::kOne}, as_stored{.layout = PixelLayout::kAsStored};
  EXPECT_EQ(DecodeImage(Sample("gray.tif"), as_stored).channels, 1);
  EXPECT_EQ(DecodeImage(Sample("palette.tif"), as_stored).channels, 3);
  EXPECT_EQ(DecodeImage(Sample("gray.tif"), one), DecodeImage(Sample("gray.tif"), as_stored));
  const Image indices = DecodeImage(Sample("palette.tif"), one),
              rgb = DecodeImage(Sample("palette.tif"));
  ASSERT_EQ(indices.channels, 1);
  for (size_t i = 0; i < indices.pixels.size(); ++i) {  // one colour an index
    const auto same = std::ranges::find(indices.pixels, indices.pixels[i]) - indices.pixels.begin();
    ASSERT_TRUE(std::equal(&rgb.pixels[3 * i], &rgb.pixels[3 * i] + 3,
                           &rgb.pixels[3 * static_cast<size_t>(same)]));
  }
  EXPECT_EQ(DecodeErrorKind(Sample("gray16.tif"), one), ErrorKind::kUnsupported);
}

TEST(TiffTest, SixteenBitsAsTheyAre) {
  const DecodeOptions wide{.layout = PixelLayout::kOne16};
  for (const std::string name : {"gray16.tif", "gray16.png"}) {
    const Image pairs = DecodeImage(Sample(name), wide), rounded = DecodeImage(Sample(name));
    ASSERT_EQ(pairs.channels, 2) << name;
    ASSERT_EQ(pairs.pixels.size() / 2, rounded.pixels.size() / 3) << name;
    for (size_t i = 0; i < pairs.pixels.size() / 2; ++i) {
      const unsigned value = LoadLittleEndian<uint16_t>(&pairs.pixels[2 * i]);
      ASSERT_TRUE(value == 65535 || value % 257 == 77)
          << name << " " << value;  // as make.py makes them
      ASSERT_EQ((value * 255 + 32767) / 65535, rounded.pixels[3 * i]) << name;
    }
  }
  for (const char* name : {"gray.tif", "rgb16.tif", "gray.png", "rgb16.png", "real_gray.jpg"}) {
    EXPECT_EQ(DecodeErrorKind(Sample(name), wide), ErrorKind::kUnsupported) << name;
  }
}

TEST(TiffTest, RefusesFloatsAndLargeImages) {
  EXPECT_EQ(DecodeErrorKind(Sample("floats.tif")), ErrorKind::kUnsupported);
  EXPECT_EQ(DecodeErrorKind(Sample("raw.tif"), {.max_pixels = 100}), ErrorKind::kUnsupported);
}

// The directory lies behind the pixels in some files, and before them in others.
TEST(TiffTest, EveryCutIsCorrupt) {
  for (const char* name : {"raw.tif", "lzw.tif", "tiles.tif", "palette.tif", "big.tif"}) {
    const ByteBuffer whole = Sample(name);
    for (size_t size = 8; size + 1 < whole.size(); size += 97) {
      EXPECT_EQ(DecodeErrorKind(Prefix(whole, size)), ErrorKind::kCorrupt)
          << name << " cut to " << size;
    }
  }
}

TEST(TiffTest, DamageLeavesGray) {
  const ByteBuffer whole = Sample("tiles.tif");
  const ByteView cut = ByteView(whole).first(whole.size() - 200);
  const Image image = DecodeImage(cut, {.allow_damage = true}), expected = DecodeImage(whole);
  EXPECT_TRUE(std::equal(image.row(0), image.row(1), expected.row(0)));
  EXPECT_EQ(image.row(image.height - 1)[3 * (image.width - 1)], 128);
}

}  // namespace
}  // namespace recpack

#include "recpack/image/decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "recpack/base/error.h"
#include "tests/image/differences.h"
#include "tests/image/regions.h"
#include "tests/image/samples.h"

namespace recpack {
namespace {

Image Expected(const std::string& name) { return DecodeImage(Sample(name + ".expected.png")); }

TEST(DecodeTest, JpegPixelsAreThoseOfPillow) {
  for (const char* name : {"real_420", "real_gray", "cmyk", "sampled_411", "progressive"}) {
    const Image image = DecodeImage(Sample(std::string(name) + ".jpg"));
    EXPECT_EQ(LargestDifference(image, Expected(name)), 0) << name;
  }
}

TEST(DecodeTest, PngPixelsAreThoseOfPillow) {
  for (const char* name : {"rgb", "rgba", "la", "gray", "bit", "palette", "palette_clear", "adam7",
                           "rgb16", "gray16"}) {
    const Image image = DecodeImage(Sample(std::string(name) + ".png"));
    EXPECT_EQ(LargestDifference(image, Expected(std::string("png_") + name)), 0) << name;
  }
}

TEST(DecodeTest, WebpPixelsAreThoseOfPillow) {
  for (const char* name : {"photo", "alpha", "lossless"}) {
    const Image image = DecodeImage(Sample(std::string(name) + ".webp"));
    EXPECT_EQ(LargestDifference(image, Expected(std::string("webp_") + name)), 0) << name;
  }
}

TEST(DecodeTest, WebpsOrientationIsRead) {
  EXPECT_EQ(ReadImageHeader(Sample("exif6.webp")).orientation, 6);
  EXPECT_EQ(ReadImageHeader(Sample("photo.webp")).orientation, 1);
  const Image stored = DecodeImage(Sample("exif6.webp"));
  EXPECT_EQ(DecodeImage(Sample("exif6.webp"), {.apply_orientation = true}),
            ApplyOrientation(stored, 6));
}

TEST(DecodeTest, DamagedWebps) {
  EXPECT_EQ(DecodeErrorKind(Sample("animated.webp")), ErrorKind::kUnsupported);
  const ByteBuffer good = Sample("photo.webp");
  const ByteView half = ByteView(good).first(good.size() / 2);
  EXPECT_EQ(DecodeErrorKind(half), ErrorKind::kCorrupt);
  const Image image = DecodeImage(half, {.allow_damage = true});
  const Image whole = DecodeImage(good);
  ASSERT_EQ(image.pixels.size(), whole.pixels.size());
  EXPECT_TRUE(std::equal(image.row(0), image.row(1), whole.row(0)));
  EXPECT_EQ(image.row(image.height - 1)[0], 128);
  EXPECT_EQ(DecodeErrorKind(good, {.max_pixels = 100}), ErrorKind::kUnsupported);
}

TEST(DecodeTest, BmpPixelsAreThoseOfPillow) {
  for (const char* name :
       {"rgb", "gray", "palette", "bit", "nibbles", "rgb555", "rgb565", "from_top32"}) {
    const Image image = DecodeImage(Sample(std::string(name) + ".bmp"));
    EXPECT_EQ(LargestDifference(image, Expected(std::string("bmp_") + name)), 0) << name;
  }
}

TEST(DecodeTest, OneChannelOfBmps) {
  EXPECT_EQ(DecodeImage(Sample("gray.bmp"), {.layout = PixelLayout::kAsStored}).channels, 1);
  EXPECT_EQ(DecodeImage(Sample("rgb.bmp"), {.layout = PixelLayout::kAsStored}).channels, 3);
  const Image indices = DecodeImage(Sample("nibbles.bmp"), {.layout = PixelLayout::kOne});
  const Image rgb = DecodeImage(Sample("nibbles.bmp"));
  ASSERT_EQ(indices.channels, 1);
  for (size_t i = 0; i < indices.pixels.size(); ++i) {
    ASSERT_EQ(rgb.pixels[3 * i + 2], 16 * indices.pixels[i]);  // the palette of make.py
  }
  ByteBuffer grays = Sample("nibbles.bmp");
  for (size_t i = 0; i < 16; ++i) std::fill_n(&grays[54 + 4 * i], 3, static_cast<uint8_t>(12 * i));
  EXPECT_EQ(DecodeImage(grays, {.layout = PixelLayout::kOne}), indices);
  const Image bits = DecodeImage(Sample("bit.bmp"), {.layout = PixelLayout::kOne});
  EXPECT_EQ(bits, DecodeImage(Sample("bit.bmp"), {.layout = PixelLayout::kAsStored}));
}

TEST(DecodeTest, DamagedBmps) {
  const ByteBuffer good = Sample("palette.bmp");
  EXPECT_EQ(DecodeErrorKind(ByteView(good).first(good.size() - 1)), ErrorKind::kCorrupt);
  EXPECT_EQ(DecodeErrorKind(ByteView(good).first(60)), ErrorKind::kCorrupt);
  EXPECT_EQ(DecodeImage(ByteView(good).first(good.size() - 1), {.allow_damage = true}).row(0)[0],
            128);
  ByteBuffer bytes = good;
  bytes[30] = 1;  // run lengths
  EXPECT_EQ(DecodeErrorKind(bytes), ErrorKind::kUnsupported);
  bytes = good;
  bytes[46] = 2;  // colours of the palette
  EXPECT_EQ(DecodeErrorKind(bytes), ErrorKind::kCorrupt);
  bytes = good;
  bytes[28] = 7;  // bits per pixel
  EXPECT_EQ(DecodeErrorKind(bytes), ErrorKind::kCorrupt);
}

TEST(DecodeTest, KeepsGrayAsStoredWhenAsked) {
  const DecodeOptions as_stored{.layout = PixelLayout::kAsStored};
  for (const char* name : {"real_gray.jpg", "gray.png", "la.png", "bit.png", "gray16.png"}) {
    const Image gray = DecodeImage(Sample(name), as_stored);
    const Image rgb = DecodeImage(Sample(name));
    ASSERT_EQ(gray.channels, 1) << name;
    ASSERT_EQ(rgb.pixels.size(), gray.pixels.size() * 3);
    for (size_t i = 0; i < rgb.pixels.size(); ++i) ASSERT_EQ(rgb.pixels[i], gray.pixels[i / 3]);
  }
  for (const char* name : {"real_420.jpg", "cmyk.jpg", "rgba.png", "palette.png"}) {
    EXPECT_EQ(DecodeImage(Sample(name), as_stored).channels, 3) << name;
  }
}

TEST(DecodeTest, AppliesTheOrientationOnRequestOnly) {
  for (int i = 1; i <= 8; ++i) {
    const std::string name = "orientation" + std::to_string(i);
    const Image stored = DecodeImage(Sample(name + ".jpg"));
    EXPECT_EQ(stored.width, 24);
    EXPECT_EQ(LargestDifference(DecodeImage(Sample(name + ".jpg"), {.apply_orientation = true}),
                                Expected(name)),
              0)
        << name;
  }
  EXPECT_EQ(DecodeImage(Sample("exif6.png"), {.apply_orientation = true}).width, 32);
}

TEST(DecodeTest, APartOfWhatIsSeenIsAPartOfWhatIsStored) {
  const Region seen{3, 1, 5, 7};
  for (int i = 0; i <= 9; ++i) {
    const std::string name = "orientation" + std::to_string(std::clamp(i, 1, 8));
    const Image stored = DecodeImage(Sample(name + ".jpg"));
    const ImageSize size{stored.width, stored.height};
    const Image upright = ApplyOrientation(stored, i);
    EXPECT_EQ(SeenSize(size, i), (ImageSize{upright.width, upright.height})) << i;
    EXPECT_EQ(ApplyOrientation(Crop(stored, StoredRegion(seen, size, i)), i), Crop(upright, seen))
        << i;
  }
}

TEST(DecodeTest, OneDecoderTakesAllKindsInTurnAndGoesOnAfterErrors) {
  ImageDecoder decoder;
  Image image;
  for (int round = 0; round < 2; ++round) {
    for (const char* name : {"real_444.jpg", "progressive.jpg", "rgba.png", "cmyk.jpg",
                             "real_gray.jpg", "scans.jpg", "arithmetic.jpg"}) {
      const ByteBuffer bytes = Sample(name);
      decoder.Decode(bytes, {}, image);
      EXPECT_EQ(image, DecodeImage(bytes)) << name;
      EXPECT_THROW(decoder.Decode(Prefix(bytes, bytes.size() / 2), {}, image), Error);
    }
  }
}

TEST(DecodeTest, TablesOfTheFileBeforeAreForgotten) {
  const ByteBuffer good = Sample("real_420.jpg");
  for (const char marker : {'\xDB', '\xC4'}) {
    // Replace each table by a comment.
    ByteBuffer bad = good;
    size_t at = 0;
    while ((at = AsText(bad).find(std::string{'\xFF', marker}, at)) != std::string::npos) {
      bad[at + 1] = 0xFE;
    }
    ImageDecoder decoder;
    Image alone, after;
    const auto decodes = [&](Image& out) {
      try {
        decoder.Decode(bad, {}, out);
        return true;
      } catch (const Error&) {
        return false;
      }
    };
    const bool first = decodes(alone);
    decoder.Decode(good, {}, after);
    EXPECT_EQ(decodes(after), first);
    EXPECT_TRUE(!first || after == alone);
  }
}

// No prefix of a file may be accepted as the whole, not even one that only lacks the end marker.
TEST(DecodeTest, EveryPrefixIsCorrupt) {
  ImageDecoder decoder;
  Image image;
  for (const char* name : {"real_420.jpg", "progressive.jpg", "orientation6.jpg", "cmyk.jpg",
                           "rgb.png", "adam7.png", "palette.png"}) {
    const ByteBuffer whole = Sample(name);
    for (size_t size = 4; size < whole.size(); size += size + 40 < whole.size() ? 7 : 1) {
      try {
        decoder.Decode(Prefix(whole, size), {}, image);
        ADD_FAILURE() << name << " cut to " << size << " bytes decodes";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << name << " cut to " << size;
      }
    }
  }
}

TEST(DecodeTest, CutJpegsDecodeWhenDamageIsAllowed) {
  const ByteBuffer whole = Sample("real_444.jpg");
  const Image good = DecodeImage(whole);
  const Image cut = DecodeImage(Prefix(whole, whole.size() / 2), {.allow_damage = true});
  ASSERT_EQ(cut.pixels.size(), good.pixels.size());
  EXPECT_TRUE(std::equal(good.row(0), good.row(40), cut.row(0)));
  EXPECT_NE(cut, good);
}

TEST(DecodeTest, GarbageInTheMiddleOfAJpegIsCorrupt) {
  ByteBuffer bytes = Sample("real_444.jpg");
  std::fill_n(bytes.begin() + 4000, 200, 0xAA);
  EXPECT_EQ(DecodeErrorKind(bytes), ErrorKind::kCorrupt);
}

TEST(DecodeTest, BytesBetweenTheHeadersSegmentsAreHarmlessBytesInAScanAreNot) {
  const ByteBuffer good = Sample("progressive.jpg");
  const auto with_zeros_before = [&](std::string_view marker) {
    ByteBuffer bytes = good;
    const size_t at = AsText(good).rfind(marker);
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), 50, 0);
    return bytes;
  };
  EXPECT_EQ(DecodeImage(with_zeros_before(std::string_view("\xFF\xDB", 2))), DecodeImage(good));
  EXPECT_EQ(DecodeErrorKind(with_zeros_before(std::string_view("\xFF\xD9", 2))),
            ErrorKind::kCorrupt);
}

TEST(DecodeTest, FlippedBitInAPngIsCorrupt) {
  const ByteBuffer good = Sample("rgb.png");
  for (size_t at = 60; at < good.size() - 12; at += 100) {
    ByteBuffer bytes = good;
    bytes[at] ^= 4;
    EXPECT_EQ(DecodeErrorKind(bytes), ErrorKind::kCorrupt) << at;
  }
}

TEST(DecodeTest, FlippedBitInAPngsTextIsHarmless) {
  const ByteBuffer good = Sample("exif6.png");
  const size_t exif = AsText(good).find("eXIf");
  ASSERT_NE(exif, std::string_view::npos);
  ByteBuffer bytes = good;
  bytes[exif + 6] ^= 4;
  EXPECT_EQ(DecodeImage(bytes), DecodeImage(good));
}

TEST(DecodeTest, GifPixelsAreThoseOfPillow) {
  for (const char* name :
       {"palette", "interlaced", "gray", "bit", "animated", "shifted", "small"}) {
    const ByteBuffer gif = Sample(std::string(name) + ".gif");
    const Image image = DecodeImage(gif);
    EXPECT_EQ(LargestDifference(image, Expected(std::string("gif_") + name)), 0) << name;
    const ImageHeader header = ReadImageHeader(gif);
    EXPECT_EQ(std::pair(header.width, header.height), std::pair(image.width, image.height)) << name;
  }
}

TEST(DecodeTest, OneChannelOfGifs) {
  EXPECT_EQ(DecodeImage(Sample("gray.gif"), {.layout = PixelLayout::kAsStored}).channels, 1);
  EXPECT_EQ(DecodeImage(Sample("palette.gif"), {.layout = PixelLayout::kAsStored}).channels, 3);
  const Image indices = DecodeImage(Sample("palette.gif"), {.layout = PixelLayout::kOne});
  ASSERT_EQ(indices.channels, 1);
  EXPECT_GT(*std::ranges::max_element(indices.pixels), 100);
  ByteBuffer grays = Sample("palette.gif");
  for (size_t i = 0; i < 256; ++i) std::fill_n(&grays[13 + 3 * i], 3, static_cast<uint8_t>(7 * i));
  EXPECT_EQ(DecodeImage(grays, {.layout = PixelLayout::kOne}), indices);
}

TEST(DecodeTest, DamagedGifs) {
  const ByteBuffer good = Sample("palette.gif");
  for (const size_t bytes : {good.size() / 2, size_t{700}, size_t{20}, size_t{13}}) {
    EXPECT_EQ(DecodeErrorKind(ByteView(good).first(bytes)), ErrorKind::kCorrupt) << bytes;
  }
  const Image part = DecodeImage(ByteView(good).first(good.size() / 2), {.allow_damage = true});
  const Image whole = DecodeImage(good);
  ASSERT_EQ(part.pixels.size(), whole.pixels.size());
  EXPECT_TRUE(std::equal(part.row(0), part.row(1), whole.row(0)));
  EXPECT_EQ(part.row(part.height - 1)[0], 128);
  EXPECT_EQ(DecodeErrorKind(good, {.max_pixels = 100}), ErrorKind::kUnsupported);
  // No byte makes it read or write elsewhere (under ASan).
  for (size_t i = 0; i < good.size(); ++i) {
    ByteBuffer bytes = good;
    bytes[i] = static_cast<uint8_t>(bytes[i] * 7 + 13);
    try {
      DecodeImage(bytes, {.allow_damage = i % 2 == 0, .max_pixels = 1 << 20});
    } catch (const Error&) {
    }
  }
}

TEST(DecodeTest, RefusesWhatIsNoImage) {
  EXPECT_EQ(DecodeErrorKind(AsBytes("hello")), ErrorKind::kCorrupt);
  EXPECT_EQ(DecodeErrorKind({}), ErrorKind::kCorrupt);
}

TEST(DecodeTest, RefusesTwelveBitAndLosslessJpegs) {
  const ByteBuffer good = Sample("real_420.jpg");
  const size_t frame = AsText(good).find(std::string_view("\xFF\xC0", 2));
  ASSERT_NE(frame, std::string_view::npos);
  ByteBuffer bytes = good;
  bytes[frame + 4] = 12;
  EXPECT_EQ(DecodeErrorKind(bytes), ErrorKind::kUnsupported);
  bytes = good;
  bytes[frame + 1] = 0xC3;
  EXPECT_EQ(DecodeErrorKind(bytes), ErrorKind::kUnsupported);
}

TEST(DecodeTest, RefusesBombsBeforeTakingMemory) {
  ByteBuffer jpeg = Sample("progressive.jpg");
  const size_t frame = AsText(jpeg).find(std::string_view("\xFF\xC2", 2));
  ASSERT_NE(frame, std::string_view::npos);
  std::fill_n(jpeg.begin() + static_cast<std::ptrdiff_t>(frame) + 5, 4, 0xFF);
  EXPECT_EQ(DecodeErrorKind(jpeg), ErrorKind::kUnsupported);
  EXPECT_EQ(DecodeErrorKind(Sample("rgb.png"), {.max_pixels = 40 * 32 - 1}),
            ErrorKind::kUnsupported);
  EXPECT_EQ(DecodeImage(Sample("rgb.png"), {.max_pixels = 40 * 32}).width, 40);
}

TEST(DecodeTest, RefusesEndlessScans) {
  const ByteBuffer good = Sample("progressive.jpg");
  // Repeats the header and data of the first scan.
  const size_t first = AsText(good).find(std::string_view("\xFF\xDA", 2));
  size_t next = AsText(good).find(std::string_view("\xFF\xC4", 2), first);
  ByteBuffer bytes = Prefix(good, first);
  for (int i = 0; i < 600; ++i) {
    bytes.insert(bytes.end(), good.begin() + static_cast<std::ptrdiff_t>(first),
                 good.begin() + static_cast<std::ptrdiff_t>(next));
  }
  try {
    DecodeImage(bytes);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.reason().find("scans"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace recpack

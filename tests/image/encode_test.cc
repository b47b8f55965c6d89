#include "recpack/image/encode.h"

#include <gtest/gtest.h>

#include <cmath>

#include "recpack/base/error.h"
#include "recpack/image/decode.h"
#include "recpack/image/header.h"
#include "tests/image/samples.h"

namespace recpack {
namespace {

double Psnr(const Image& a, const Image& b) {
  double squares = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i) {
    const double d = a.pixels[i] - b.pixels[i];
    squares += d * d;
  }
  return 10 * std::log10(255.0 * 255 * static_cast<double>(a.pixels.size()) / squares);
}

TEST(EncodeTest, PngComesBackAsItWas) {
  for (const char* name : {"real_420.jpg", "real_gray.jpg"}) {
    const Image image = DecodeImage(Sample(name), {.layout = PixelLayout::kAsStored});
    EXPECT_EQ(DecodeImage(EncodePng(image), {.layout = PixelLayout::kAsStored}), image);
  }
}

TEST(EncodeTest, JpegQualityTradesSizeForCloseness) {
  const Image image = DecodeImage(Sample("real_444.jpg"));
  const ByteBuffer good = EncodeJpeg(image, {.quality = 95, .subsample_chroma = false});
  const ByteBuffer poor = EncodeJpeg(image, {.quality = 30});
  EXPECT_LT(poor.size() * 3, good.size());
  EXPECT_GT(Psnr(DecodeImage(good), image), 38);
  EXPECT_GT(Psnr(DecodeImage(poor), image), 22);
}

TEST(EncodeTest, JpegKeepsGrayAndSinglePixels) {
  const Image gray = DecodeImage(Sample("real_gray.jpg"), {.layout = PixelLayout::kAsStored});
  EXPECT_EQ(ReadImageHeader(EncodeJpeg(gray)).channels, 1);
  const Image dot{.width = 1, .height = 1, .channels = 3, .pixels = {200, 10, 10}};
  EXPECT_EQ(DecodeImage(EncodeJpeg(dot)).width, 1);
}

// Noise at full quality encodes to more bytes than its pixels: the output buffer must grow.
TEST(EncodeTest, JpegGrowsBeyondItsFirstBuffer) {
  Image noise;
  noise.Reshape(200, 200, 3);
  uint32_t state = 1;
  for (uint8_t& value : noise.pixels)
    value = static_cast<uint8_t>((state = state * 69069 + 1) >> 24);
  const ByteBuffer file = EncodeJpeg(noise, {.quality = 100, .subsample_chroma = false});
  EXPECT_GT(file.size(), noise.pixels.size() / 2);
  EXPECT_GT(Psnr(DecodeImage(file), noise), 35);
}

TEST(EncodeTest, RefusesWhatIsNoImage) {
  const Image good{.width = 2, .height = 1, .channels = 1, .pixels = {1, 2}};
  EXPECT_THROW(EncodePng({}), Error);
  EXPECT_THROW(EncodeJpeg({.width = 2, .height = 2, .channels = 1, .pixels = {1, 2}}), Error);
  EXPECT_THROW(EncodePng({.width = 1, .height = 1, .channels = 2, .pixels = {1, 2}}), Error);
  EXPECT_THROW(EncodeJpeg(good, {.quality = 0}), Error);
  EXPECT_THROW(EncodeJpeg(good, {.quality = 101}), Error);
}

}  // namespace
}  // namespace recpack

#include "recpack/image/resize.h"

#include <gtest/gtest.h>

#include <string>

#include "recpack/base/error.h"
#include "recpack/image/decode.h"
#include "tests/image/samples.h"

namespace recpack {
namespace {

TEST(ResizeTest, PixelsAreThoseOfPillow) {
  const Image image = DecodeImage(Sample("resize.png"));
  for (const ImageSize size : {ImageSize{50, 33}, {13, 9}, {101, 20}, {7, 67}, {160, 90}, {1, 1}}) {
    const std::string name = "resize_" + std::to_string(size.width) + "x" +
                             std::to_string(size.height) + ".expected.png";
    EXPECT_EQ(Resize(image, {.width = size.width, .height = size.height}),
              DecodeImage(Sample(name)))
        << name;
  }
}

TEST(ResizeTest, GrayPixelsAreThoseOfPillow) {
  const DecodeOptions as_stored{.layout = PixelLayout::kAsStored};
  EXPECT_EQ(Resize(DecodeImage(Sample("resize_gray.png"), as_stored), {.width = 40, .height = 30}),
            DecodeImage(Sample("resize_gray_40x30.expected.png"), as_stored));
}

TEST(ResizeTest, WithoutAntialiasTwoTapsAreMixed) {
  const Image image{.width = 4, .height = 1, .channels = 1, .pixels = {0, 100, 200, 40}};
  EXPECT_EQ(Resize(image, {.width = 2, .height = 1, .antialias = false}).pixels,
            (std::vector<uint8_t>{50, 120}));
  EXPECT_EQ(Resize(image, {.width = 1, .height = 1, .antialias = false}).pixels,
            (std::vector<uint8_t>{150}));
}

TEST(ResizeTest, TheSameSizeChangesNothing) {
  const Image image = DecodeImage(Sample("rgb.png"));
  EXPECT_EQ(Resize(image, {.width = image.width, .height = image.height}), image);
}

TEST(ResizeTest, ConstantImagesStayConstant) {
  for (int channels = 1; channels <= 4; ++channels) {
    Image image;
    image.Reshape(37, 23, channels);
    std::fill(image.pixels.begin(), image.pixels.end(), 255);
    const Image out = Resize(image, {.width = 11, .height = 50});
    EXPECT_EQ(out.pixels, std::vector<uint8_t>(size_t{11} * 50 * channels, 255));
  }
}

TEST(ResizeTest, RefusesEmptySizes) {
  const Image image = DecodeImage(Sample("rgb.png"));
  EXPECT_THROW(Resize(image, {.width = 0, .height = 5}), Error);
  EXPECT_THROW(Resize({}, {.width = 5, .height = 5}), Error);
}

TEST(ResizeTest, ScalesTheShorterSideAsTorchvision) {
  EXPECT_EQ(ScaleShorterSide({500, 375}, 256), (ImageSize{341, 256}));
  EXPECT_EQ(ScaleShorterSide({375, 500}, 256), (ImageSize{256, 341}));
  EXPECT_EQ(ScaleShorterSide({100, 100}, 7), (ImageSize{7, 7}));
}

}  // namespace
}  // namespace recpack

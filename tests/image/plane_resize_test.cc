// Tests of JpegPlaneResizer; approximation_test.cc tests its accuracy.
#include "recpack/image/plane_resize.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "recpack/base/error.h"
#include "recpack/base/random.h"
#include "recpack/image/header.h"
#include "recpack/image/jpeg_crop.h"
#include "recpack/image/jpeg_tile.h"
#include "tests/image/regions.h"
#include "tests/image/samples.h"

namespace recpack {
namespace {

constexpr const char* kColours[] = {"real_420.jpg", "real_420b.jpg", "real_422.jpg",
                                    "real_444.jpg"};

// Resizes a whole part.
ResizeWindow WindowOf(const Region& part, ImageSize size) {
  return {{part.width, part.height}, size, {0, 0, size.width, size.height}};
}

Image Made(ByteView jpeg, const Region& part, const ResizeWindow& window,
           ResizeFilter filter = ResizeFilter::kBilinear) {
  Image out;
  EXPECT_TRUE(JpegPlaneResizer().Resize(jpeg, part, window, filter, {}, out));
  return out;
}

bool IsMade(ByteView jpeg, const DecodeOptions& options = {}) {
  const ImageHeader header = ReadImageHeader(jpeg);
  const Region all{0, 0, header.width, header.height};
  Image out;
  return JpegPlaneResizer().Resize(jpeg, all, WindowOf(all, {9, 7}), ResizeFilter::kBilinear,
                                   options, out);
}

TEST(PlaneResizeTest, WhatKeepsItsSizeIsDecodedExactly) {
  const ByteBuffer jpeg = Sample("real_444.jpg");
  const Region part{5, 3, 90, 71};
  EXPECT_EQ(Made(jpeg, part, WindowOf(part, {90, 71})), DecodeJpegRegion(jpeg, part));
}

TEST(PlaneResizeTest, WindowsAndTilesGiveThePixelsOfTheWhole) {
  KeyedRandom random(11, 0, 0);
  for (const char* name : kColours) {
    const ByteBuffer jpeg = Sample(name);
    const ByteBuffer tiled = TileJpeg(jpeg, {.target_pixels = 16});
    const ImageHeader header = ReadImageHeader(jpeg);
    for (int i = 0; i < 60; ++i) {
      const Region part = RandomRegion(header.width, header.height, random);
      const auto filter = static_cast<ResizeFilter>(i % 3);
      ResizeWindow window = WindowOf(part, {1 + Below(random, 80), 1 + Below(random, 80)});
      if (i % 5 == 0) window = WindowOf(part, window.whole);
      const Image whole = Made(jpeg, part, window, filter);
      window.window = RandomRegion(window.resized.width, window.resized.height, random);
      ASSERT_EQ(Made(jpeg, part, window, filter), Crop(whole, window.window)) << name << i;
      ASSERT_EQ(Made(tiled, part, window, filter), Crop(whole, window.window)) << name << i;
    }
  }
}

// Samples of a ramp, each the mean of its pixels, give the same result as the ramp's pixels, except
// at the ends, where the last sample also covers pixels outside the image.
TEST(PlaneResizeTest, SamplesLieWhereTheyBelong) {
  constexpr int kWidth = 61, kSize = 23, kSlope = 4;
  Image ramp;
  ramp.Reshape(kWidth, 1, 1);
  for (int x = 0; x < kWidth; ++x) ramp.pixels[x] = static_cast<uint8_t>(kSlope * x);
  const Image exact = Resize(ramp, {.width = kSize, .height = 1});
  for (const int phase : {0, 1}) {
    Image samples, resized;
    samples.Reshape((kWidth + phase + 1) / 2, 1, 1);
    for (int k = 0; k < samples.width; ++k) {
      samples.pixels[k] = static_cast<uint8_t>(std::max(0, kSlope * (2 * k - phase) + kSlope / 2));
    }
    resized.Reshape(kSize, 1, 1);
    const ResizeWindow window{.whole = {kWidth, 1},
                              .resized = {kSize, 1},
                              .window = {0, 0, kSize, 1},
                              .grid = {.step_x = 2, .phase_x = phase}};
    Resizer().Resize(ToView(samples), {0, 0, samples.width, 1}, window, ResizeFilter::kBilinear,
                     ToSpan(resized));
    for (int i = 1; i + 1 < kSize; ++i) {
      EXPECT_LE(std::abs(resized.pixels[i] - exact.pixels[i]), 1) << phase << " at " << i;
    }
  }
}

TEST(PlaneResizeTest, LeavesOtherFilesAndApproximations) {
  for (const char* name : kColours) EXPECT_TRUE(IsMade(Sample(name))) << name;
  for (const char* name : {"real_gray.jpg", "progressive.jpg", "cmyk.jpg", "sampled_411.jpg"}) {
    EXPECT_FALSE(IsMade(Sample(name))) << name;
  }
  EXPECT_FALSE(IsMade(Sample("rgb.png")));
  const ByteBuffer jpeg = Sample("real_420.jpg");
  EXPECT_FALSE(IsMade(Prefix(jpeg, jpeg.size() - 100)));
  EXPECT_FALSE(IsMade(jpeg, {.allow_damage = true}));
  EXPECT_FALSE(IsMade(jpeg, {.fast_dct = true}));
  EXPECT_FALSE(IsMade(jpeg, {.scale_denominator = 2}));
}

TEST(PlaneResizeTest, RefusesWhatIsNoPart) {
  const ByteBuffer jpeg = Sample("real_420.jpg");
  const auto kind_of = [&](const Region& part, const ResizeWindow& window) {
    try {
      Image out;
      JpegPlaneResizer().Resize(jpeg, part, window, ResizeFilter::kBilinear, {}, out);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::kIo;
  };
  const Region outside{8, 8, 5000, 10}, part{8, 8, 10, 10};
  EXPECT_EQ(kind_of(outside, WindowOf(outside, {5, 5})), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of(part, WindowOf(outside, {5, 5})), ErrorKind::kInvalidArgument);
  ResizeWindow window = WindowOf(part, {5, 5});
  window.grid.phase_x = 1;
  EXPECT_EQ(kind_of(part, window), ErrorKind::kInvalidArgument);
  window = WindowOf(part, {5, 5});
  window.window.x = 1;
  EXPECT_EQ(kind_of(part, window), ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace recpack

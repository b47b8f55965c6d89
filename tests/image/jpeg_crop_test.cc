#include "recpack/image/jpeg_crop.h"

#include <gtest/gtest.h>

#include "recpack/base/error.h"
#include "recpack/base/random.h"
#include "recpack/image/jpeg_tile.h"
#include "src/image/jpeg/jpeg_segments.h"
#include "tests/image/regions.h"
#include "tests/image/samples.h"

namespace recpack {
namespace {

// Returns corners, edges, single pixels, the whole image and random regions.
std::vector<Region> RegionsOf(int width, int height, uint64_t seed) {
  std::vector<Region> regions = {{0, 0, width, height},         {0, 0, 1, 1},
                                 {width - 1, height - 1, 1, 1}, {width - 1, 0, 1, height},
                                 {0, height - 1, width, 1},     {width / 2, height / 2, 1, 1}};
  for (int i = 1; i < std::min(7, width); ++i) {
    regions.push_back({0, 0, i, std::min(height, 9)});
    regions.push_back({width - i, 0, i, std::min(height, 9)});
  }
  KeyedRandom random(seed, 0, 0);
  for (int i = 0; i < 60; ++i) {
    const int w = 1 + static_cast<int>(random.NextBelow(static_cast<uint32_t>(width)));
    const int h = 1 + static_cast<int>(random.NextBelow(static_cast<uint32_t>(height)));
    regions.push_back({static_cast<int>(random.NextBelow(static_cast<uint32_t>(width - w + 1))),
                       static_cast<int>(random.NextBelow(static_cast<uint32_t>(height - h + 1))), w,
                       h});
  }
  return regions;
}

void ExpectCropsOf(const ByteBuffer& jpeg, const std::string& name,
                   const DecodeOptions& options = {}) {
  const Image whole = DecodeImage(jpeg, options);
  JpegRegionDecoder decoder;
  Image out;
  for (const Region& r : RegionsOf(whole.width, whole.height, jpeg.size())) {
    decoder.Decode(jpeg, r, options, out);
    ASSERT_EQ(out, Crop(whole, r))
        << name << ": " << r.width << "x" << r.height << " at (" << r.x << ", " << r.y << ")";
  }
}

TEST(JpegCropTest, PixelsOfAnyJpegAreThoseOfTheWhole) {
  for (const std::string& name : SampleNames(".jpg")) ExpectCropsOf(Sample(name), name);
}

TEST(JpegCropTest, PixelsOfTiledJpegsAreThoseOfTheWhole) {
  for (const std::string& name : SampleNames(".jpg")) {
    if (name == "arithmetic.jpg" || name == "incomplete.jpg") continue;
    for (const int target : {0, 16, 64}) {
      ExpectCropsOf(TileJpeg(Sample(name), {.target_pixels = target}), name);
    }
  }
}

// Tests all decode options, on files of all samplings, as they are and tiled.
TEST(JpegCropTest, PixelsOfApproximationsAreThoseOfTheWhole) {
  for (const std::string& name : SampleNames(".jpg")) {
    const bool can_tile = name != "arithmetic.jpg" && name != "incomplete.jpg";
    const ByteBuffer jpeg = Sample(name);
    const ByteBuffer tiled = can_tile ? TileJpeg(jpeg, {.target_pixels = 16}) : ByteBuffer();
    for (int i = 1; i < 16; ++i) {
      const DecodeOptions options{.fast_dct = i % 2 == 1,
                                  .fancy_upsampling = i / 2 % 2 == 0,
                                  .scale_denominator = 1 << i / 4};
      const std::string what = name + " with options " + std::to_string(i);
      ExpectCropsOf(jpeg, what, options);
      if (can_tile) ExpectCropsOf(tiled, "tiled " + what, options);
    }
  }
}

TEST(JpegCropTest, GrayStaysGrayWhenAsked) {
  ExpectCropsOf(TileJpeg(Sample("real_gray.jpg")), "gray", {.layout = PixelLayout::kAsStored});
}

// Distant damage is not detected, which shows that distant data is not decoded.
TEST(JpegCropTest, OnlyTheSegmentsOfTheRegionAreDecoded) {
  ByteBuffer tiled = TileJpeg(Sample("real_444.jpg"));
  const Image good = DecodeImage(tiled);
  TiledJpeg layout;
  ASSERT_TRUE(ParseTiledJpeg(tiled, layout));
  ASSERT_EQ(layout.segments_per_row, 2);
  // Zeros after the first bytes of the first row's second segment soon form an invalid code.
  const size_t second = AsText(tiled).find(std::string_view("\xFF\xD0", 2), layout.scan) + 2;
  const size_t third = AsText(tiled).find(std::string_view("\xFF\xD1", 2), second);
  std::fill(tiled.begin() + static_cast<std::ptrdiff_t>(second),
            tiled.begin() + static_cast<std::ptrdiff_t>(third), 0x55);
  EXPECT_THROW(DecodeImage(tiled), Error);
  const Region left{0, 0, 80, good.height}, below{0, 8, good.width, good.height - 8};
  EXPECT_EQ(DecodeJpegRegion(tiled, left), Crop(good, left));
  EXPECT_EQ(DecodeJpegRegion(tiled, below), Crop(good, below));
  EXPECT_THROW(DecodeJpegRegion(tiled, {0, 0, good.width, 8}), Error);
}

TEST(JpegCropTest, DamageInTheRegionIsAnErrorUnlessAllowed) {
  const ByteBuffer tiled = TileJpeg(Sample("real_444.jpg"));
  TiledJpeg layout;
  ASSERT_TRUE(ParseTiledJpeg(tiled, layout));
  int errors = 0;
  for (size_t size = layout.scan; size < tiled.size(); size += 11) {
    const ByteBuffer cut = Prefix(tiled, size);
    EXPECT_THROW(DecodeJpegRegion(cut, {0, 100, 160, 70}), Error) << size;
    EXPECT_EQ(DecodeJpegRegion(cut, {0, 100, 160, 70}, {.allow_damage = true}).width, 160);
    ++errors;
  }
  EXPECT_GT(errors, 100);
}

TEST(JpegCropTest, MissingRestartMarkersFallBackToTheWholeFile) {
  ByteBuffer tiled = TileJpeg(Sample("real_444.jpg"));
  const Image good = DecodeImage(tiled);
  TiledJpeg layout;
  ASSERT_TRUE(ParseTiledJpeg(tiled, layout));
  // One marker out of order at the bottom does not affect crops above it.
  const size_t marker = AsText(tiled).rfind(std::string_view("\xFF\xD4", 2));
  tiled[marker + 1] = 0xD5;
  const Region top{3, 3, 50, 20};
  EXPECT_EQ(DecodeJpegRegion(tiled, top), Crop(good, top));
  EXPECT_THROW(DecodeJpegRegion(tiled, {0, 0, good.width, good.height}), Error);
}

TEST(JpegCropTest, RefusesRegionsOutsideTheImage) {
  for (const ByteBuffer& jpeg : {Sample("real_420.jpg"), TileJpeg(Sample("real_420.jpg"))}) {
    for (const Region& region : {Region{0, 0, 76, 1},
                                 {0, 0, 1, 57},
                                 {-1, 0, 5, 5},
                                 {0, -1, 5, 5},
                                 {0, 0, 0, 5},
                                 {0, 0, 5, 0},
                                 {75, 0, 1, 1},
                                 {2147483647, 0, 2147483647, 1}}) {
      try {
        DecodeJpegRegion(jpeg, region);
        ADD_FAILURE() << region.x << " " << region.width;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      }
    }
    EXPECT_THROW(DecodeJpegRegion(jpeg, {0, 0, 1, 1}, {.apply_orientation = true}), Error);
  }
}

TEST(JpegCropTest, OtherFormatsAreErrors) {
  EXPECT_THROW(DecodeJpegRegion(Sample("rgb.png"), {0, 0, 1, 1}), Error);
  EXPECT_THROW(DecodeJpegRegion({}, {0, 0, 1, 1}), Error);
}

TEST(JpegCropTest, SaysHowMuchHadToBeRead) {
  const ByteBuffer jpeg = Sample("real_420.jpg");
  const Image whole = DecodeImage(jpeg);
  const int width = whole.width, height = whole.height;
  const auto share = [&](const ByteBuffer& file, const Region& region) {
    JpegRegionDecoder decoder;
    Image out;
    decoder.Decode(file, region, {}, out);
    return decoder.coded_share();
  };
  EXPECT_DOUBLE_EQ(share(jpeg, {0, 0, width, height}), 1);
  const double upper = share(jpeg, {0, 0, width, height / 4});
  EXPECT_GT(upper, 0.24);
  EXPECT_LT(upper, 0.5) << "what lies below the region is not read";
  const Region corner{width / 2, height - height / 4, width / 4, height / 4};
  EXPECT_GT(share(jpeg, corner), 0.7) << "all before it is";
  const double tiled = share(TileJpeg(jpeg), corner);
  EXPECT_GT(tiled, 0.06);
  EXPECT_LT(tiled, 0.5) << "of a tiled file, no other segments";
}

}  // namespace
}  // namespace recpack

#include "src/loader/fields/picture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "recpack/base/error.h"
#include "recpack/image/decode.h"
#include "recpack/image/encode.h"
#include "src/loader/batch/stats_page.h"
#include "tests/image/regions.h"
#include "tests/image/samples.h"

namespace recpack {
namespace {

ImageField FieldOf(CropKind crop, int height, int width) {
  ImageField field;
  field.crop = crop;
  field.height = height;
  field.width = width;
  field.resize = 24;
  return field;
}

Image CopyOf(const PixelView& view) {
  Image image{.width = view.width, .height = view.height, .channels = view.channels};
  image.pixels.assign(view.pixels, view.pixels + view.stride * static_cast<size_t>(view.height));
  return image;
}

Image Make(const ImageField& field, ByteView file, uint64_t position, bool shared = false) {
  SampleTools tools;
  KeyedRandom random(5, 1, position);
  return CopyOf(PictureMaker(field, shared)(file, random, tools));
}

// Reads from the cache, after another part of the image.
Image MakeOfKept(const ImageField& field, ByteView file, uint64_t position) {
  SampleCache cache(16 << 20, 1, file.size());
  CacheCounts counts;
  SampleTools tools;
  tools.kept.Use(cache, counts);
  tools.kept.Begin(0, 0, file);
  const PictureMaker maker(field, false);
  KeyedRandom other(5, 1, position + 1000), random(5, 1, position);
  maker(file, other, tools);
  const Image picture = CopyOf(maker(file, random, tools));
  CacheStats stats;
  counts.AddTo(stats);
  EXPECT_EQ(stats.hits, 1u);
  return picture;
}

// Reference: decodes the whole image, orients it, then crops, resizes and crops.
Image Expected(const ImageField& field, ByteView file, uint64_t position) {
  const Image seen = DecodeImage(file, {.apply_orientation = field.decoding.apply_orientation,
                                        .fast_dct = field.decoding.fast_dct,
                                        .fancy_upsampling = field.decoding.fancy_upsampling});
  const ImageSize size{seen.width, seen.height};
  const auto resized = [&](const Image& from, ImageSize to) {
    return Resize(from, {.width = to.width, .height = to.height, .filter = field.filter});
  };
  const ImageSize result{field.width, field.height};
  if (field.crop == CropKind::kRandomResized) {
    KeyedRandom random(5, 1, position);
    const RandomCrop choose(field.area[0], field.area[1], field.aspect[0], field.aspect[1]);
    return resized(Crop(seen, choose(size, random)), result);
  }
  if (field.crop == CropKind::kResize) return resized(seen, result);
  const ImageSize scaled = ScaleShorterSide(size, field.resize);
  return Crop(resized(seen, scaled), CentreCrop(scaled, result.width, result.height));
}

constexpr const char* kFiles[] = {"real_420.jpg",     "real_444.jpg",     "progressive.jpg",
                                  "cmyk.jpg",         "real_gray.jpg",    "sampled_411.jpg",
                                  "rgba.png",         "palette.png",      "orientation1.jpg",
                                  "orientation3.jpg", "orientation6.jpg", "orientation7.jpg"};

TEST(Picture, OnlyWhatIsNeededIsDecodedAndThePixelsAreThoseOfTheWhole) {
  for (const char* name : kFiles) {
    const ByteBuffer file = Sample(name);
    for (const auto crop : {CropKind::kRandomResized, CropKind::kResizeCentre, CropKind::kResize}) {
      for (int i = 0; i < 12; ++i) {
        ImageField field = FieldOf(crop, 9 + i, 7 + i);
        field.filter = i % 2 == 0 ? ResizeFilter::kBilinear : ResizeFilter::kBilinearTwoTaps;
        field.decoding.apply_orientation = i % 3 == 0;
        const auto position = static_cast<uint64_t>(i);
        const Image expected = Expected(field, file, position);
        EXPECT_EQ(Make(field, file, position), expected) << name << " " << i;
        EXPECT_EQ(Make(field, file, position, true), expected) << name << " shared " << i;
        EXPECT_EQ(MakeOfKept(field, file, position), expected) << name << " kept " << i;
      }
    }
  }
}

TEST(Picture, ApproximationsAreThoseOfTheDecoder) {
  const ByteBuffer file = Sample("real_420.jpg");
  const ImageField exact = FieldOf(CropKind::kResizeCentre, 20, 20);
  for (const bool fast : {true, false}) {
    ImageField field = exact;
    (fast ? field.decoding.fast_dct : field.decoding.fancy_upsampling) = fast;
    EXPECT_EQ(Make(field, file, 0), Expected(field, file, 0));
    EXPECT_NE(Make(field, file, 0), Make(exact, file, 0));
  }
}

double Psnr(const Image& a, const Image& b) {
  EXPECT_EQ(a.pixels.size(), b.pixels.size());
  double squares = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i) {
    const double difference = a.pixels[i] - b.pixels[i];
    squares += difference * difference;
  }
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.pixels.size()) / squares);
}

TEST(Picture, AFractionOfTheSizeComesNearAndIsTakenOnlyWhereItIsEnough) {
  const ByteBuffer file = Sample("real_420.jpg");
  const ImageHeader header = ReadImageHeader(file);
  for (const auto crop : {CropKind::kRandomResized, CropKind::kResizeCentre, CropKind::kResize}) {
    for (int divisor : {1, 2, 3, 4, 9}) {
      ImageField field = FieldOf(crop, header.height / divisor, header.width / divisor);
      field.resize = std::max(field.height, field.width);
      field.area = {0.7, 1};
      const Image exact = Make(field, file, 3);
      field.decoding.scaled = true;
      const Image scaled = Make(field, file, 3);
      if (divisor < 2) {
        EXPECT_EQ(scaled, exact);
      } else {
        EXPECT_GT(Psnr(scaled, exact), 22) << static_cast<int>(crop) << " " << divisor;
      }
      if (divisor > 3) {
        EXPECT_NE(scaled, exact);
      }
    }
  }
  ImageField png = FieldOf(CropKind::kResize, 3, 3);
  png.decoding.scaled = true;
  EXPECT_EQ(Make(png, Sample("rgb.png"), 0), Expected(png, Sample("rgb.png"), 0));
}

TEST(Picture, ResizedPlanesComeNearWhereTheyCanBeHad) {
  for (const auto crop : {CropKind::kRandomResized, CropKind::kResizeCentre, CropKind::kResize}) {
    ImageField exact = FieldOf(crop, 20, 20), field = exact;
    field.decoding.resize_planes = true;
    const auto make_both = [&](const std::string& name) {
      const ByteBuffer file = Sample(name);
      return std::pair(Make(field, file, 3), Make(exact, file, 3));
    };
    const auto [near, expected] = make_both("real_420.jpg");
    EXPECT_NE(near, expected);
    EXPECT_GT(Psnr(near, expected), 44) << static_cast<int>(crop);
    for (const char* name : {"real_gray.jpg", "progressive.jpg", "rgb.png"}) {
      const auto [other, as_ever] = make_both(name);
      EXPECT_EQ(other, as_ever) << name;
    }
    exact.decoding.apply_orientation = field.decoding.apply_orientation = true;
    const auto [turned, turned_exactly] = make_both("orientation6.jpg");
    EXPECT_EQ(turned, turned_exactly);
  }
}

TEST(Picture, DamageIsAnErrorUnlessItIsAllowed) {
  ByteBuffer file = Sample("real_420.jpg");
  file.resize(file.size() / 2);
  ImageField field = FieldOf(CropKind::kResize, 16, 16);
  EXPECT_THROW(Make(field, file, 0), Error);
  field.decoding.allow_damage = true;
  EXPECT_EQ(Make(field, file, 0).width, 16);
}

TEST(Picture, FieldsShareWhatIsDecodedAlike) {
  ImageField one = FieldOf(CropKind::kResize, 4, 4), other = FieldOf(CropKind::kResizeCentre, 4, 4);
  EXPECT_TRUE(SharesPicture(one, {one, other}));
  EXPECT_FALSE(SharesPicture(one, {one, IdField{}}));
  other.decoding.apply_orientation = true;
  EXPECT_FALSE(SharesPicture(one, {one, other}));
  other = one;
  other.feature = "mask";
  EXPECT_FALSE(SharesPicture(one, {one, other}));
  other = one;
  one.decoding.scaled = other.decoding.scaled = true;
  EXPECT_FALSE(SharesPicture(one, {one, other}));
  one.decoding = other.decoding = {.resize_planes = true};
  EXPECT_FALSE(SharesPicture(one, {one, other}));
}

TEST(Picture, CountsThePixelsThatWereDecoded) {
  const ByteBuffer file = Sample("real_420.jpg");
  const ImageHeader header = ReadImageHeader(file);
  const auto pixels = static_cast<uint64_t>(header.width) * static_cast<uint64_t>(header.height);
  const auto counted = [](const ImageField& field, ByteView bytes) {
    StatsPage page({.workers = 1, .slots = 1, .batch_size = 1, .batch_bytes = 1});
    StageClock clock(page.blocks().worker(0));
    SampleTools tools;
    tools.clock = &clock;
    KeyedRandom random(5, 1, 3);
    clock.BeginChunk();
    clock.BeginSamples();
    clock.BeginSample(0, 0);
    PictureMaker(field, false)(bytes, random, tools);
    clock.EndSample();
    clock.EndChunk();
    return Snapshot(page.blocks(), 0).TotalPictures();
  };
  const PictureStats whole = counted(FieldOf(CropKind::kResize, 24, 24), file);
  EXPECT_EQ(whole.pixels, pixels);
  EXPECT_EQ(whole.made, pixels);
  EXPECT_EQ(whole.coded_bytes, file.size());
  const PictureStats crop = counted(FieldOf(CropKind::kRandomResized, 24, 24), file);
  EXPECT_EQ(crop.pixels, pixels);
  EXPECT_LT(crop.made, pixels);
  EXPECT_GT(crop.made, 0u);
  EXPECT_LE(crop.coded_bytes, file.size());
  const ByteBuffer png = EncodePng(DecodeImage(file));
  EXPECT_EQ(counted(FieldOf(CropKind::kResize, 24, 24), png).pixels, 0u) << "no JPEG";
}

}  // namespace
}  // namespace recpack

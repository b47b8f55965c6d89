// Tests of SequentialJpeg against libjpeg.
#include "src/image/jpeg/jpeg_sequential.h"

#include <gtest/gtest.h>

#include "recpack/base/error.h"
#include "recpack/base/random.h"
#include "recpack/image/jpeg_crop.h"
#include "recpack/image/jpeg_tile.h"
#include "src/image/jpeg/decode_jpeg.h"
#include "tests/image/regions.h"
#include "tests/image/samples.h"

namespace recpack {
namespace {

Image DecodeByLibjpeg(const ByteBuffer& jpeg, const DecodeOptions& options = {}) {
  JpegReader reader;
  ByteBuffer scratch;
  Image image;
  DecodeJpeg(reader, jpeg, options, scratch, image);
  return image;
}

struct Encoding {
  int h = 1, v = 1;  // sampling factors of the first component
  int quality = 75;
  int restart_interval = 0;
  bool is_gray = false, is_rgb = false, optimized = true;
};

ByteBuffer Encode(const Image& image, const Encoding& how) {
  JpegWriter writer;
  writer.Open(0);
  jpeg_compress_struct& info = writer.info();
  writer.Run([&] {
    info.image_width = static_cast<JDIMENSION>(image.width);
    info.image_height = static_cast<JDIMENSION>(image.height);
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_colorspace(&info, how.is_gray ? JCS_GRAYSCALE : how.is_rgb ? JCS_RGB : JCS_YCbCr);
    jpeg_set_quality(&info, how.quality, TRUE);
    info.optimize_coding = how.optimized ? TRUE : FALSE;
    info.restart_interval = static_cast<unsigned>(how.restart_interval);
    info.comp_info[0].h_samp_factor = how.h;
    info.comp_info[0].v_samp_factor = how.v;
    jpeg_start_compress(&info, TRUE);
    for (int y = 0; y < image.height; ++y) {
      JSAMPROW row = const_cast<JSAMPROW>(image.row(y));
      jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
  });
  return writer.TakeFile();
}

// Makes waves with some noise, and without it in places.
Image Picture(int width, int height, KeyedRandom& random) {
  Image image;
  image.Reshape(width, height, 3);
  const int step = 1 + Below(random, 40), noise = 1 + Below(random, 120);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < 3 * width; ++x) {
      const int wave = (x / 3 * (1 + x % 3) + y * step / 8) % 256;
      const bool is_flat = (x / 60 + y / 20) % 3 == 0;
      image.row(y)[x] = static_cast<uint8_t>(is_flat ? wave / 16 * 16
                                                     : std::min(255, wave + Below(random, noise)));
    }
  }
  return image;
}

// Decodes the whole file and regions of it with each set of kernels.
void ExpectPixelsOfLibjpeg(const ByteBuffer& jpeg, KeyedRandom& random, const std::string& what,
                           const DecodeOptions& options = {}) {
  const Image whole = DecodeByLibjpeg(jpeg, options);
  JpegReader reader;
  Image out;
  for (const JpegKernels* kernels : AvailableJpegKernels()) {
    SequentialJpeg decoder(kernels);
    ASSERT_TRUE(decoder.Decode(jpeg, nullptr, options, reader, out)) << what << kernels->name;
    ASSERT_EQ(out, whole) << what << kernels->name;
    for (int i = 0; i < 12; ++i) {
      const Region r = RandomRegion(whole.width, whole.height, random);
      ASSERT_TRUE(decoder.Decode(jpeg, &r, options, reader, out)) << what << kernels->name;
      ASSERT_EQ(out, Crop(whole, r)) << what << kernels->name << ": " << r.width << "x" << r.height
                                     << " at (" << r.x << ", " << r.y << ")";
    }
  }
}

bool IsDecoded(const ByteBuffer& jpeg, const DecodeOptions& options = {}) {
  JpegReader reader;
  Image out;
  return SequentialJpeg().Decode(jpeg, nullptr, options, reader, out);
}

TEST(JpegSequentialTest, DecodesTheUsualKindsAndLeavesOthers) {
  for (const char* name : {"real_420.jpg", "real_420b.jpg", "real_422.jpg", "real_444.jpg",
                           "real_gray.jpg", "real_icc.jpg", "orientation6.jpg"}) {
    EXPECT_TRUE(IsDecoded(Sample(name))) << name;
    EXPECT_TRUE(IsDecoded(TileJpeg(Sample(name)))) << name;
  }
  for (const char* name : {"arithmetic.jpg", "cmyk.jpg", "incomplete.jpg", "progressive.jpg",
                           "progressive_gray.jpg", "sampled_410.jpg", "sampled_411.jpg",
                           "sampled_440.jpg", "sampled_mixed.jpg", "scans.jpg", "rgb.png"}) {
    EXPECT_FALSE(IsDecoded(Sample(name))) << name;
  }
}

TEST(JpegSequentialTest, LeavesApproximationsAndDamage) {
  const ByteBuffer jpeg = Sample("real_420.jpg");
  EXPECT_FALSE(IsDecoded(jpeg, {.allow_damage = true}));
  EXPECT_FALSE(IsDecoded(jpeg, {.fast_dct = true}));
  EXPECT_FALSE(IsDecoded(jpeg, {.fancy_upsampling = false}));
  EXPECT_FALSE(IsDecoded(jpeg, {.scale_denominator = 2}));
  EXPECT_FALSE(IsDecoded(jpeg, {.max_pixels = 100}));
}

TEST(JpegSequentialTest, PixelsAreThoseOfLibjpeg) {
  KeyedRandom random(1, 0, 0);
  for (const std::string& name : SampleNames(".jpg")) {
    if (!IsDecoded(Sample(name))) continue;
    for (const PixelLayout layout : {PixelLayout::kRgb, PixelLayout::kAsStored}) {
      ExpectPixelsOfLibjpeg(Sample(name), random, name + " ", {.layout = layout});
      ExpectPixelsOfLibjpeg(TileJpeg(Sample(name), {.target_pixels = 16}), random, name + " tiled ",
                            {.layout = layout});
    }
  }
}

TEST(JpegSequentialTest, AnySizeSamplingQualityAndRestartInterval) {
  constexpr Encoding kSamplings[] = {{.h = 1},
                                     {.h = 2},
                                     {.h = 2, .v = 2},
                                     {.is_gray = true},
                                     {.h = 2, .v = 2, .is_gray = true},
                                     {.is_rgb = true}};
  KeyedRandom random(2, 0, 0);
  for (int i = 0; i < 600; ++i) {
    Encoding how = kSamplings[i % 6];
    how.quality = 1 + Below(random, 100);
    how.restart_interval = Below(random, 3) == 0 ? 1 + Below(random, 20) : 0;
    how.optimized = Below(random, 2) == 0;
    // Below five pixels, chroma of half the width is left to libjpeg.
    const int width = (how.h == 2 && !how.is_gray ? 5 : 1) + Below(random, i % 10 == 0 ? 300 : 70);
    const Image picture = Picture(width, 1 + Below(random, 70), random);
    const std::string what = std::to_string(picture.width) + "x" + std::to_string(picture.height) +
                             ", " + std::to_string(how.h) + "x" + std::to_string(how.v) +
                             ", quality " + std::to_string(how.quality) + ", interval " +
                             std::to_string(how.restart_interval) + ", ";
    ExpectPixelsOfLibjpeg(Encode(picture, how), random, what);
    if (HasFatalFailure()) return;
  }
}

// Streams are copied in pieces; this one has many, with stuffed bytes at their ends.
TEST(JpegSequentialTest, LongStreams) {
  KeyedRandom random(3, 0, 0);
  Image noise;
  noise.Reshape(701, 333, 3);
  for (uint8_t& sample : noise.pixels) sample = static_cast<uint8_t>(90 + Below(random, 80));
  const ByteBuffer jpeg = Encode(noise, {.h = 2, .v = 2, .quality = 98});
  ASSERT_GT(jpeg.size(), 150'000u);
  ExpectPixelsOfLibjpeg(jpeg, random, "noise ");
}

// Blocks that may overflow libjpeg's 16-bit arithmetic are left to it.
TEST(JpegSequentialTest, ExtremeBlocksAreLeft) {
  KeyedRandom random(4, 0, 0);
  Image extreme;
  extreme.Reshape(64, 64, 3);
  for (size_t i = 0; i < extreme.pixels.size(); i += 3) {
    std::fill_n(&extreme.pixels[i], 3, Below(random, 2) == 0 ? uint8_t{0} : uint8_t{255});
  }
  const ByteBuffer jpeg = Encode(extreme, {.quality = 100});
  EXPECT_FALSE(IsDecoded(jpeg));
  EXPECT_EQ(DecodeImage(jpeg), DecodeByLibjpeg(jpeg));
}

TEST(JpegSequentialTest, EveryPrefixIsRefused) {
  JpegReader reader;
  SequentialJpeg decoder;
  Image out;
  for (const ByteBuffer& jpeg : {Sample("real_420.jpg"), TileJpeg(Sample("real_422.jpg"))}) {
    for (size_t size = 0; size < jpeg.size(); size += size + 300 < jpeg.size() ? 3 : 1) {
      ASSERT_FALSE(decoder.Decode(Prefix(jpeg, size), nullptr, {}, reader, out)) << size;
    }
  }
}

TEST(JpegSequentialTest, DataAfterTheScanIsRefused) {
  ByteBuffer jpeg = Sample("real_420.jpg");
  ASSERT_TRUE(IsDecoded(jpeg));
  jpeg.insert(jpeg.end() - 2, 0x12);
  EXPECT_FALSE(IsDecoded(jpeg));
}

// Returns the result of a decoder: its pixels or its error.
template <typename Decode>
std::pair<Image, std::string> OutcomeOf(Decode&& decode) {
  try {
    return {decode(), ""};
  } catch (const Error& error) {
    return {Image(), error.what()};
  }
}

void Mutate(ByteBuffer& bytes, KeyedRandom& random) {
  for (int edits = 1 + Below(random, 3); edits > 0; --edits) {
    const auto at = bytes.begin() + Below(random, static_cast<int>(bytes.size()));
    switch (Below(random, 4)) {
      case 0:
        *at ^= static_cast<uint8_t>(1 << Below(random, 8));
        break;
      case 1:
        *at = static_cast<uint8_t>(Below(random, 256));
        break;
      case 2:
        bytes.erase(at);
        break;
      default:
        bytes.insert(at, static_cast<uint8_t>(Below(random, 4) == 0 ? 0xFF : 0));
        break;
    }
  }
}

TEST(JpegSequentialTest, DamagedFilesAreAsForLibjpeg) {
  KeyedRandom random(5, 0, 0);
  std::vector<ByteBuffer> files;
  for (const char* name : {"real_420.jpg", "real_422.jpg", "real_444.jpg", "real_gray.jpg"}) {
    files.push_back(Sample(name));
    files.push_back(TileJpeg(Sample(name), {.target_pixels = 16}));
  }
  const DecodeOptions options{.max_pixels = 1 << 20};
  ImageDecoder decoder;
  JpegRegionDecoder region_decoder;
  int damaged = 0;
  for (int i = 0; i < 5000; ++i) {
    ByteBuffer file = files[static_cast<size_t>(i) % files.size()];
    Mutate(file, random);
    const auto [whole, reason] = OutcomeOf([&] { return DecodeByLibjpeg(file, options); });
    damaged += reason.empty() ? 0 : 1;
    const auto ours = OutcomeOf([&] {
      Image out;
      decoder.Decode(file, options, out);
      return out;
    });
    ASSERT_EQ(ours.second.empty(), reason.empty()) << i << ": " << ours.second << reason;
    ASSERT_EQ(ours.first, whole) << i;
    if (!reason.empty()) continue;
    const Region r = RandomRegion(whole.width, whole.height, random);
    Image out;
    region_decoder.Decode(file, r, options, out);
    ASSERT_EQ(out, Crop(whole, r)) << i;
  }
  EXPECT_GT(damaged, 1000);
  EXPECT_LT(damaged, 4900);
}

}  // namespace
}  // namespace recpack

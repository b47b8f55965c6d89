// Mutation tests with 5,000 damaged images of every kind: each decoder returns an error with a
// reason or an image of the size in the header. ASan and UBSan detect invalid accesses.
#include <gtest/gtest.h>

#include <optional>

#include "recpack/base/error.h"
#include "recpack/image/decode.h"
#include "recpack/image/header.h"
#include "recpack/image/jpeg_crop.h"
#include "recpack/image/jpeg_tile.h"
#include "recpack/image/plane_resize.h"
#include "tests/image/mutator.h"
#include "tests/image/regions.h"
#include "tests/image/samples.h"

namespace recpack {
namespace {

constexpr int kMutations = 5000;
constexpr uint64_t kMaxPixels = 1 << 18;  // arbitrary; keeps the run short

// Returns the result of `decode`, or nullopt if it reports damage or an unsupported file.
template <typename Decode>
std::optional<Image> Outcome(Decode&& decode) {
  try {
    Image image;
    decode(image);
    return image;
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported)
        << error.what();
    EXPECT_FALSE(error.reason().empty());
    return std::nullopt;
  }
}

std::optional<ImageHeader> HeaderOf(const ByteBuffer& file) {
  std::optional<ImageHeader> header;
  Outcome([&](Image&) { header = ReadImageHeader(file); });
  return header;
}

std::vector<ByteBuffer> Originals() {
  std::vector<ByteBuffer> files;
  for (const char* name : {"real_420.jpg",  "real_422.jpg",     "real_444.jpg",
                           "real_gray.jpg", "progressive.jpg",  "progressive_gray.jpg",
                           "cmyk.jpg",      "sampled_411.jpg",  "sampled_mixed.jpg",
                           "scans.jpg",     "orientation6.jpg", "rgb.png",
                           "rgba.png",      "rgb16.png",        "palette_clear.png",
                           "adam7.png",     "gray.png",         "exif6.png",
                           "lzw.tif",       "tiles.tif",        "palette.tif",
                           "jpeg.tif",      "bit.tif",          "big.tif",
                           "photo.avif",    "alpha.avif",       "orientation7.avif"}) {
    files.push_back(Sample(name));
  }
  // With restart markers.
  for (const char* name : {"real_420b.jpg", "real_444.jpg", "real_gray.jpg"}) {
    files.push_back(TileJpeg(Sample(name), {.target_pixels = 16}));
  }
  return files;
}

class MutationTest : public testing::Test {
 protected:
  void Check(const ByteBuffer& file, KeyedRandom& random) {
    const std::optional<ImageHeader> header = HeaderOf(file);
    const auto whole = Outcome([&](Image& out) { decoder_.Decode(file, options_, out); });
    DecodeOptions lenient = options_;
    lenient.allow_damage = true;
    const auto damaged = Outcome([&](Image& out) { decoder_.Decode(file, lenient, out); });
    ExpectSizeOf(header, whole);
    ExpectSizeOf(header, damaged);
    if (whole) {
      ++whole_;
      EXPECT_EQ(damaged, whole);
    } else if (damaged) {
      ++taken_;
    }
    if (header && header->format == ImageFormat::kJpeg) CheckRegion(file, *header, whole, random);
  }

  int whole_ = 0;  // files that decode
  int taken_ = 0;  // files that decode only if damage is allowed

 private:
  static void ExpectSizeOf(const std::optional<ImageHeader>& header,
                           const std::optional<Image>& image) {
    if (!image) return;
    ASSERT_TRUE(header);
    EXPECT_EQ(image->width, header->width);
    EXPECT_EQ(image->height, header->height);
    EXPECT_EQ(image->channels, 3);
    EXPECT_EQ(image->pixels.size(), image->row_bytes() * static_cast<size_t>(image->height));
  }

  // Regions beside the damage decode in a damaged file; all regions decode in a whole one.
  void CheckRegion(const ByteBuffer& file, const ImageHeader& header,
                   const std::optional<Image>& whole, KeyedRandom& random) {
    if (uint64_t{kMaxPixels} < static_cast<uint64_t>(header.width) * header.height) return;
    const Region region = RandomRegion(header.width, header.height, random);
    const auto decode = [&](const DecodeOptions& options) {
      return Outcome([&](Image& out) { regions_.Decode(file, region, options, out); });
    };
    const auto crop = decode(options_);
    if (whole) {
      EXPECT_EQ(crop, Crop(*whole, region));
    }
    DecodeOptions lenient = options_;
    lenient.allow_damage = true;
    for (const auto& picture : {crop, decode(lenient)}) {
      if (!picture) continue;
      EXPECT_EQ(picture->width, region.width);
      EXPECT_EQ(picture->height, region.height);
    }
    Outcome([&](Image& out) {
      const ImageSize size{region.width, region.height};
      const ResizeWindow window{size, {13, 11}, {0, 0, 13, 11}};
      if (!planes_.Resize(file, region, window, ResizeFilter::kBilinear, options_, out)) return;
      EXPECT_TRUE(crop);
      EXPECT_EQ(out.pixels.size(), 13U * 11 * 3);
    });
  }

  const DecodeOptions options_{.max_pixels = kMaxPixels};
  ImageDecoder decoder_;  // reused: state left by a file must not matter
  JpegRegionDecoder regions_;
  JpegPlaneResizer planes_;
};

TEST_F(MutationTest, DamagedFilesAreErrorsOrPicturesOfTheirSize) {
  const std::vector<ByteBuffer> originals = Originals();
  for (int i = 0; i < kMutations && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    const auto number = static_cast<size_t>(i);
    ByteBuffer file = originals[number % originals.size()];
    Mutator{number}(file, originals[number / 7 % originals.size()]);
    KeyedRandom random(18, 0, number);
    Check(file, random);
  }
  // Some files must be refused and some accepted.
  EXPECT_GT(whole_, kMutations / 10);
  EXPECT_GT(taken_, kMutations / 10);
  EXPECT_LT(whole_ + taken_, kMutations * 9 / 10);
  RecordProperty("whole", whole_);
  RecordProperty("taken", taken_);
}

}  // namespace
}  // namespace recpack

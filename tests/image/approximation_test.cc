#include <gtest/gtest.h>

#include <cmath>

#include "recpack/base/error.h"
#include "recpack/image/decode.h"
#include "recpack/image/resize.h"
#include "tests/image/samples.h"

namespace recpack {
namespace {

constexpr const char* kPhotographs[] = {"real_420.jpg", "real_420b.jpg", "real_422.jpg",
                                        "real_444.jpg", "real_gray.jpg", "real_icc.jpg"};

// Of the channels of all pixels.
struct Difference {
  double psnr = 0;  // dB
  int largest = 0;
};

Difference Compare(const PixelView& a, const PixelView& b) {
  Difference difference;
  double squares = 0;
  for (int y = 0; y < a.height; ++y) {
    for (size_t i = 0; i < a.row_bytes(); ++i) {
      const int by = std::abs(a.row(y)[i] - b.row(y)[i]);
      squares += by * by;
      difference.largest = std::max(difference.largest, by);
    }
  }
  const double mean = squares / (static_cast<double>(a.row_bytes()) * a.height);
  difference.psnr = 10 * std::log10(255.0 * 255.0 / mean);
  return difference;
}

// A decode with `options` against the exact pixels, or the means of their squares where it is
// scaled; what is left of a square at the right and lower edge is not compared.
Difference FromExact(const std::string& name, const DecodeOptions& options) {
  const ByteBuffer jpeg = Sample(name);
  const Image exact = DecodeImage(jpeg), image = DecodeImage(jpeg, options);
  const int scale = options.scale_denominator;
  EXPECT_EQ(image.width, ScaledLength(exact.width, scale));
  EXPECT_EQ(image.height, ScaledLength(exact.height, scale));
  Image means;
  means.Reshape(exact.width / scale, exact.height / scale, 3);
  Resizer().Resize(ViewOf(exact), {0, 0, means.width * scale, means.height * scale},
                   ResizeFilter::kBox, SpanOf(means));
  return Compare(ViewOf(means), ViewOf(image));
}

// Bounds as the header states them.
void ExpectWithin(const DecodeOptions& options, double psnr, int largest) {
  Difference worst{.psnr = 1000, .largest = 0};
  for (const char* name : kPhotographs) {
    const Difference one = FromExact(name, options);
    worst.psnr = std::min(worst.psnr, one.psnr);
    worst.largest = std::max(worst.largest, one.largest);
  }
  EXPECT_TRUE(worst.psnr >= psnr) << worst.psnr << " dB";
  EXPECT_LE(worst.largest, largest);
  // It is an approximation, and the bounds are not far from it.
  EXPECT_TRUE(worst.psnr < psnr + 1) << worst.psnr << " dB";
  EXPECT_GE(worst.largest, largest * 9 / 10);
}

TEST(ApproximationTest, FastDctIsNearTheExactOne) { ExpectWithin({.fast_dct = true}, 44, 6); }

TEST(ApproximationTest, RepeatedChromaIsNearSmoothChroma) {
  ExpectWithin({.fancy_upsampling = false}, 43, 23);
}

TEST(ApproximationTest, ScaledImagesAreNearMeansOfTheExactOne) {
  ExpectWithin({.scale_denominator = 2}, 42, 19);
  ExpectWithin({.scale_denominator = 4}, 38, 33);
  ExpectWithin({.scale_denominator = 8}, 36, 26);
}

TEST(ApproximationTest, AllAtOnceIsNearToo) {
  ExpectWithin({.fast_dct = true, .fancy_upsampling = false, .scale_denominator = 2}, 40, 24);
}

TEST(ApproximationTest, ScaleGoesWithTheOrientation) {
  const DecodeOptions options{.apply_orientation = true, .scale_denominator = 4};
  const Image image = DecodeImage(Sample("orientation6.jpg"), options);
  EXPECT_EQ(image.width, 4);
  EXPECT_EQ(image.height, 6);
}

TEST(ApproximationTest, RefusesOtherScalesAndScaledPngs) {
  const auto kind_of = [](const std::string& name, int scale) {
    try {
      DecodeImage(Sample(name), {.scale_denominator = scale});
    } catch (const Error& error) {
      EXPECT_FALSE(error.advice().empty());
      return error.kind();
    }
    return ErrorKind::kIo;
  };
  for (const int scale : {0, 3, -1, 16}) {
    EXPECT_EQ(kind_of("real_420.jpg", scale), ErrorKind::kInvalidArgument);
  }
  EXPECT_EQ(kind_of("rgb.png", 2), ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace recpack

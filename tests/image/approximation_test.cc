#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "recpack/base/error.h"
#include "recpack/image/decode.h"
#include "recpack/image/jpeg_crop.h"
#include "recpack/image/plane_resize.h"
#include "recpack/image/resize.h"
#include "tests/image/samples.h"

namespace recpack {
namespace {

constexpr const char* kPhotographs[] = {"real_420.jpg", "real_420b.jpg", "real_422.jpg",
                                        "real_444.jpg", "real_gray.jpg", "real_icc.jpg"};

// Errors over all channels of all pixels.
struct Difference {
  double psnr = std::numeric_limits<double>::infinity();  // dB
  int largest = 0;

  // Keeps the worse of both.
  void Add(const Difference& other) {
    psnr = std::min(psnr, other.psnr);
    largest = std::max(largest, other.largest);
  }
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

// Compares a decode with `options` with the exact pixels, or with the means of their squares if it
// is scaled; partial squares at the right and lower edge are not compared.
Difference FromExact(const std::string& name, const DecodeOptions& options) {
  const ByteBuffer jpeg = Sample(name);
  const Image exact = DecodeImage(jpeg), image = DecodeImage(jpeg, options);
  const int scale = options.scale_denominator;
  EXPECT_EQ(image.width, ScaledLength(exact.width, scale));
  EXPECT_EQ(image.height, ScaledLength(exact.height, scale));
  Image means;
  means.Reshape(exact.width / scale, exact.height / scale, 3);
  Resizer().Resize(ToView(exact), {0, 0, means.width * scale, means.height * scale},
                   ResizeFilter::kBox, ToSpan(means));
  return Compare(ToView(means), ToView(image));
}

// Checks the bounds stated in the header. `difference_of` returns the difference for a photograph.
template <typename Differences>
void ExpectEachWithin(Differences&& difference_of, double psnr, int largest) {
  Difference worst;
  for (const char* name : kPhotographs) worst.Add(difference_of(name));
  EXPECT_TRUE(worst.psnr >= psnr) << worst.psnr << " dB";
  EXPECT_LE(worst.largest, largest);
  // The result is not exact, and the bounds are tight.
  EXPECT_TRUE(worst.psnr < psnr + 1) << worst.psnr << " dB";
  EXPECT_GE(worst.largest, largest * 9 / 10);
}

void ExpectWithin(const DecodeOptions& options, double psnr, int largest) {
  ExpectEachWithin([&](const char* name) { return FromExact(name, options); }, psnr, largest);
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

// Resizes everything except the edge by `factor`, so that the region begins within a chroma sample.
Difference OfResizedPlanes(const std::string& name, ResizeFilter filter, double factor) {
  const ByteBuffer jpeg = Sample(name);
  const Image whole = DecodeImage(jpeg);
  const Region part{3, 5, whole.width - 7, whole.height - 8};
  const int width = static_cast<int>(part.width * factor),
            height = static_cast<int>(part.height * factor);
  const ResizeWindow window{{part.width, part.height}, {width, height}, {0, 0, width, height}};
  Image image;
  JpegPlaneResizer().Resize(jpeg, part, window, filter, {}, image);
  const Image exact = Resize(DecodeJpegRegion(jpeg, part), {width, height, filter});
  return Compare(ToView(exact), ToView(image));
}

TEST(ApproximationTest, ResizedPlanesAreNearResizedPixels) {
  const auto expect_within = [](ResizeFilter filter, double psnr, int largest) {
    const auto difference_of = [&](const std::string& name) {
      Difference worst;
      if (name == "real_gray.jpg") return worst;  // has no chroma
      for (const double factor : {0.25, 0.5, 0.8, 1.0, 2.0}) {
        worst.Add(OfResizedPlanes(name, filter, factor));
      }
      return worst;
    };
    ExpectEachWithin(difference_of, psnr, largest);
  };
  expect_within(ResizeFilter::kBilinear, 47, 22);
  expect_within(ResizeFilter::kBilinearTwoTaps, 47, 27);
  expect_within(ResizeFilter::kBox, 38, 34);
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

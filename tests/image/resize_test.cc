#include "recpack/image/resize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>
#include <string>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/base/random.h"
#include "recpack/image/decode.h"
#include "src/image/resize/resize_kernels.h"
#include "tests/image/regions.h"
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

// Must match tests/golden/image/make_resize.py.
Image Noise(int width, int height, int channels) {
  Image image;
  image.Reshape(width, height, channels);
  uint32_t state = static_cast<uint32_t>(width * height);
  for (uint8_t& value : image.pixels) {
    state = state * 1664525 + 1013904223;
    value = static_cast<uint8_t>(state >> 24);
  }
  return image;
}

Image LoadSource(const std::string& name) {
  int width = 0, height = 0, channels = 0;
  if (std::sscanf(name.c_str(), "noise:%d:%d:%d", &width, &height, &channels) == 3) {
    return Noise(width, height, channels);
  }
  return DecodeImage(Sample(name));
}

// Resizes into rows with gaps and checks that the gaps are not written.
Image ResizeRegion(Resizer& resizer, const PixelView& from, const Region& region, ImageSize size,
                   ResizeFilter filter) {
  constexpr size_t kGap = 5;
  constexpr uint8_t kUntouched = 0xA5;
  Image out;
  out.Reshape(size.width, size.height, from.channels);
  PixelSpan to = ToSpan(out);
  to.stride += kGap;
  std::vector<uint8_t> memory(to.stride * static_cast<size_t>(to.height), kUntouched);
  to.pixels = memory.data();
  resizer.Resize(from, region, filter, to);
  for (int y = 0; y < to.height; ++y) {
    std::copy_n(to.row(y), to.row_bytes(), out.row(y));
    EXPECT_EQ(std::count(to.row(y) + to.row_bytes(), to.row(y) + to.stride, kUntouched),
              std::ptrdiff_t{kGap});
  }
  return out;
}

// Regions and sizes of all kinds with one resizer, so that buffers and weights are reused.
TEST(ResizeTest, PixelsOfRegionsAreThoseOfPillowOnEveryCpu) {
  for (const ResizeKernels* kernels : AvailableResizeKernels()) {
    std::istringstream cases(std::string(AsText(Sample("resize_cases.txt"))));
    Resizer resizer(*kernels);
    std::string name, filter, digest;
    Region region;
    ImageSize size;
    int count = 0;
    while (cases >> name >> region.x >> region.y >> region.width >> region.height >> size.width >>
           size.height >> filter >> digest) {
      const Image image = LoadSource(name);
      const Image out =
          ResizeRegion(resizer, ToView(image), region, size,
                       filter == "box" ? ResizeFilter::kBox : ResizeFilter::kBilinear);
      Sha256 sha;
      sha.Update(out.pixels);
      ASSERT_EQ(Hex(sha.Finish()), digest)
          << kernels->name << ": " << name << " " << region.width << "x" << region.height << " at ("
          << region.x << ", " << region.y << ") to " << size.width << "x" << size.height << " "
          << filter;
      ++count;
    }
    EXPECT_GT(count, 250);
  }
}

// Images of which only a window is available, in memory that ends with its last pixel.
TEST(ResizeTest, EveryCpuGivesTheBitsOfTheScalarPath) {
  Resizer scalar(kScalarResize);
  for (const ResizeKernels* kernels : AvailableResizeKernels()) {
    Resizer resizer(*kernels);
    for (uint32_t i = 0; i < 400; ++i) {
      KeyedRandom random(0, 0, i);
      const auto below = [&](int end) {
        return static_cast<int>(random.NextBelow(static_cast<uint32_t>(end)));
      };
      const int channels = 1 + below(4);
      const Image image = Noise(1 + below(90), 1 + below(90), channels);
      PixelView view = ToView(image);
      const int left_out = below(image.width);
      view.pixels += left_out * channels;
      view.width -= left_out;
      const int width = 1 + below(view.width), height = 1 + below(view.height);
      const Region region{below(view.width - width + 1), below(view.height - height + 1), width,
                          height};
      const ImageSize size{1 + below(130), 1 + below(130)};
      const auto filter = static_cast<ResizeFilter>(below(3));
      ASSERT_EQ(ResizeRegion(resizer, view, region, size, filter),
                ResizeRegion(scalar, view, region, size, filter))
          << kernels->name << " case " << i;
    }
  }
}

// Two-tap filter of OpenCV and torch, in floating point and rounded once.
double MixTwoTaps(const Image& image, double x, double y, int channel) {
  const auto clamped = [](int value, int size) { return std::clamp(value, 0, size - 1); };
  const int left = static_cast<int>(std::floor(x)), top = static_cast<int>(std::floor(y));
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    const int from_x = left + i % 2, from_y = top + i / 2;
    const double weight = (1 - std::abs(x - from_x)) * (1 - std::abs(y - from_y));
    sum += weight *
           image.row(clamped(
               from_y, image.height))[clamped(from_x, image.width) * image.channels + channel];
  }
  return sum;
}

TEST(ResizeTest, WithoutAntialiasPixelsAreTwoTapsWithinOne) {
  const Image image = DecodeImage(Sample("real_420.jpg"));
  for (const ImageSize size : {ImageSize{30, 20}, {150, 120}, {7, 56}, {75, 9}}) {
    const Image out = Resize(
        image,
        {.width = size.width, .height = size.height, .filter = ResizeFilter::kBilinearTwoTaps});
    for (int i = 0; i < size.width * size.height * 3; ++i) {
      const int x = i / 3 % size.width, y = i / 3 / size.width;
      const double expected = MixTwoTaps(image, (x + 0.5) * image.width / size.width - 0.5,
                                         (y + 0.5) * image.height / size.height - 0.5, i % 3);
      // Rows and columns are each rounded by up to 0.5.
      ASSERT_TRUE(std::abs(out.pixels[static_cast<size_t>(i)] - expected) <= 1.001)
          << x << " " << y;
    }
  }
}

TEST(ResizeTest, WithoutAntialiasTwoTapsAreMixed) {
  const Image image{.width = 4, .height = 1, .channels = 1, .pixels = {0, 100, 200, 40}};
  EXPECT_EQ(
      Resize(image, {.width = 2, .height = 1, .filter = ResizeFilter::kBilinearTwoTaps}).pixels,
      (std::vector<uint8_t>{50, 120}));
  EXPECT_EQ(
      Resize(image, {.width = 1, .height = 1, .filter = ResizeFilter::kBilinearTwoTaps}).pixels,
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

// Only the source region is available, which shows that no other pixels are needed.
TEST(ResizeTest, WindowsAreThoseOfTheWholeOnEveryCpu) {
  KeyedRandom random(1, 0, 0);
  const auto below = [&](int n) {
    return static_cast<int>(random.NextBelow(static_cast<uint32_t>(n)));
  };
  for (const ResizeKernels* kernels : AvailableResizeKernels()) {
    Resizer resizer(*kernels);
    for (int i = 0; i < 300; ++i) {
      const Image whole = Noise(1 + below(70), 1 + below(70), i % 2 == 0 ? 3 : 1);
      ResizeWindow window{.whole = {whole.width, whole.height},
                          .resized = {1 + below(60), 1 + below(60)},
                          .window = {}};
      if (i % 5 == 0) window.resized.width = whole.width;
      if (i % 7 == 0) window.resized.height = whole.height;
      Region& part = window.window;
      part.x = below(window.resized.width);
      part.y = below(window.resized.height);
      part.width = 1 + below(window.resized.width - part.x);
      part.height = 1 + below(window.resized.height - part.y);
      for (const auto filter : {ResizeFilter::kBilinear, ResizeFilter::kBilinearTwoTaps,
                                ResizeFilter::kBox, ResizeFilter::kNearest}) {
        const Region source = SourceRegion(window, filter);
        const Image shown = Crop(whole, source);
        Image out;
        out.Reshape(part.width, part.height, whole.channels);
        resizer.Resize(ToView(shown), source, window, filter, ToSpan(out));
        const Image resized = Resize(
            whole,
            {.width = window.resized.width, .height = window.resized.height, .filter = filter});
        ASSERT_EQ(out, Crop(resized, part)) << kernels->name << " " << i;
        resizer.Resize(ToView(whole), {0, 0, whole.width, whole.height}, window, filter,
                       ToSpan(out));
        ASSERT_EQ(out, Crop(resized, part)) << kernels->name << " " << i;
      }
    }
  }
}

TEST(ResizeTest, RefusesWindowsThatAreNotShown) {
  const Image image = Noise(10, 10, 3);
  Image out;
  out.Reshape(4, 4, 3);
  const ResizeWindow window{{20, 20}, {10, 10}, {3, 3, 4, 4}};
  EXPECT_EQ(SourceRegion(window, ResizeFilter::kBilinear), (Region{5, 5, 10, 10}));
  Resizer resizer;
  const auto resize = [&](const Region& shown, const ResizeWindow& part) {
    resizer.Resize(ToView(image), shown, part, ResizeFilter::kBilinear, ToSpan(out));
  };
  EXPECT_NO_THROW(resize({5, 5, 10, 10}, window));
  EXPECT_THROW(resize({6, 5, 10, 10}, window), Error);
  EXPECT_THROW(resize({5, 4, 10, 10}, window), Error);
  EXPECT_THROW(resize({5, 5, 11, 10}, window), Error);  // differs from the image's size
  EXPECT_THROW(resize({5, 5, 10, 10}, {{20, 20}, {10, 10}, {3, 3, 4, 5}}), Error);
  EXPECT_THROW(resize({5, 5, 10, 10}, {{20, 20}, {10, 10}, {7, 3, 4, 4}}), Error);
  EXPECT_THROW(resize({5, 5, 10, 10}, {{0, 20}, {10, 10}, {3, 3, 4, 4}}), Error);
}

TEST(ResizeTest, RefusesEmptySizesAndRegionsOutside) {
  const Image image = DecodeImage(Sample("rgb.png"));
  Image out;
  out.Reshape(4, 4, 3);
  const auto resize = [&](const Region& region) {
    Resizer().Resize(ToView(image), region, ResizeFilter::kBilinear, ToSpan(out));
  };
  EXPECT_NO_THROW(resize({0, 0, image.width, image.height}));
  EXPECT_THROW(resize({1, 0, image.width, 1}), Error);
  EXPECT_THROW(resize({0, 0, 5, 0}), Error);
  out.channels = 1;
  EXPECT_THROW(resize({0, 0, 5, 5}), Error);
  EXPECT_THROW(Resize(image, {.width = 0, .height = 5}), Error);
  EXPECT_THROW(Resize({}, {.width = 5, .height = 5}), Error);
}

TEST(ResizeTest, ScalesTheShorterSideAsTorchvision) {
  EXPECT_EQ(ScaleShorterSide({500, 375}, 256), (ImageSize{341, 256}));
  EXPECT_EQ(ScaleShorterSide({375, 500}, 256), (ImageSize{256, 341}));
  EXPECT_EQ(ScaleShorterSide({100, 100}, 7), (ImageSize{7, 7}));
}

TEST(ResizeTest, RefusesSidesThatAreNoInt) {
  EXPECT_EQ(ScaleShorterSide({1, 100'000'000}, 21), (ImageSize{21, 2'100'000'000}));
  for (const ImageSize size : {ImageSize{1, 100'000'000}, ImageSize{100'000'000, 1}}) {
    EXPECT_THROW(ScaleShorterSide(size, 22), Error);
    EXPECT_THROW(ScaleShorterSide(size, 256), Error);
  }
}

// Takes the pixel that contains the centre of each output pixel.
TEST(ResizeTest, NearestMixesNoValues) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const auto side = [&] { return 1 + static_cast<int>(random() % 60); };
    Image image;
    image.Reshape(side(), side(), 1);
    for (uint8_t& pixel : image.pixels) pixel = static_cast<uint8_t>(random());
    const int width = side(), height = side();
    const Image resized =
        Resize(image, {.width = width, .height = height, .filter = ResizeFilter::kNearest});
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        // In integers: ((2x + 1) * from) / (2 * to), rounded down; if the division is exact, the
        // centre lies between two pixels, and rounding decides.
        const auto places = [](int i, int from, int to) {
          const int at = (2 * i + 1) * from;
          std::vector<int> found = {at / (2 * to)};
          if (at % (2 * to) == 0) found.push_back(found[0] - 1);
          return found;
        };
        bool holds = false;
        for (const int from_x : places(x, image.width, width)) {
          for (const int from_y : places(y, image.height, height)) {
            holds |= resized.row(y)[x] == image.row(from_y)[from_x];
          }
        }
        ASSERT_TRUE(holds) << round << ' ' << x << ' ' << y;
      }
    }
  }
}

}  // namespace
}  // namespace recpack

// Image operations, compared with Pillow's (tests/golden/augment/make_augment.py).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <sstream>

#include "recpack/base/file.h"
#include "recpack/base/hash.h"
#include "src/loader/image/augment_colour.h"
#include "src/loader/image/augment_geometric.h"
#include "src/loader/image/augment_policy.h"
#include "src/loader/image/augment_tone.h"
#include "src/loader/image/portable_math.h"
#include "tests/golden.h"

namespace recpack {
namespace {

// The same as in make_augment.py.
Image Noise(int width, int height, int channels) {
  Image image;
  image.Reshape(width, height, channels);
  uint32_t state = static_cast<uint32_t>(width * height);
  const size_t count = image.pixels.size();
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    const auto part = static_cast<uint32_t>(i * 8 / count);
    image.pixels[i] = static_cast<uint8_t>(part * 29 + (state >> 24) * (8 - part) / 8);
  }
  return image;
}

using Operation = std::function<void(Image&, double)>;

// With "_bilinear" or without.
void AddWarps(const std::string& suffix, Interpolation interpolation,
              std::map<std::string, Operation>& to) {
  const auto add = [&](const char* name, auto affine) {
    to[name + suffix] = [interpolation, affine](Image& image, double x) {
      const Image from = image;
      Warp(from, affine(x, ImageSize{from.width, from.height}), interpolation, image);
    };
  };
  add("shear_x", [](double x, ImageSize) { return ShearX(x); });
  add("shear_y", [](double x, ImageSize) { return ShearY(x); });
  add("translate_x", [](double x, ImageSize) { return Translate(static_cast<int>(x), 0); });
  add("translate_y", [](double x, ImageSize) { return Translate(0, static_cast<int>(x)); });
  add("rotate", [](double x, ImageSize size) { return Rotate(x, size); });
}

std::map<std::string, Operation> Operations() {
  std::map<std::string, Operation> all = {
      {"brightness", [](Image& i, double x) { AdjustBrightness(i, static_cast<float>(x)); }},
      {"contrast", [](Image& i, double x) { AdjustContrast(i, static_cast<float>(x)); }},
      {"saturation", [](Image& i, double x) { AdjustSaturation(i, static_cast<float>(x)); }},
      {"sharpness",
       [scratch = Image()](Image& i, double x) mutable {
         AdjustSharpness(i, static_cast<float>(x), scratch);
       }},
      {"hue", [](Image& i, double x) { AdjustHue(i, x); }},
      {"posterize", [](Image& i, double x) { Posterize(i, static_cast<int>(x)); }},
      {"solarize", [](Image& i, double x) { Solarize(i, x); }},
      {"autocontrast", [](Image& i, double) { AutoContrast(i); }},
      {"equalize", [](Image& i, double) { Equalize(i); }},
  };
  AddWarps("", Interpolation::kNearest, all);
  AddWarps("_bilinear", Interpolation::kBilinear, all);
  return all;
}

TEST(Augment, PicturesAreThoseOfPillow) {
  const auto operations = Operations();
  const ByteBuffer text = ReadWholeFile(PosixFiles(), GoldenPath("augment/cases.txt"));
  std::istringstream cases(std::string(AsText(text)));
  std::string name, digest;
  double argument = 0;
  int width = 0, height = 0, channels = 0;
  std::map<std::string, int> count;
  while (cases >> name >> argument >> width >> height >> channels >> digest) {
    Image image = Noise(width, height, channels);
    operations.at(name)(image, argument);
    Sha256 sha;
    sha.Update(image.pixels);
    EXPECT_EQ(Hex(sha.Finish()).substr(0, 16), digest)
        << name << " " << argument << " " << width << "x" << height << "x" << channels;
    ++count[name];
  }
  EXPECT_EQ(count.size(), operations.size());
}

TEST(Augment, SinesAreThoseOfTheCLibrary) {
  for (double x = -8; x < 8; x += 0.0137) {
    EXPECT_NEAR(PortableSinCos(x).sin, std::sin(x), 4e-16) << x;
    EXPECT_NEAR(PortableSinCos(x).cos, std::cos(x), 4e-16) << x;
  }
}

// Values derived by hand from torchvision/transforms/autoaugment.py.
TEST(Augment, MagnitudesAreThoseOfTorchvision) {
  using Op = AugmentOperation;
  const auto rand = [](Op operation, int bin) {
    return Magnitude(AugmentPolicyKind::kRandAugment, operation, bin, {331, 662});
  };
  const auto wide = [](Op operation, int bin) {
    return Magnitude(AugmentPolicyKind::kTrivialAugmentWide, operation, bin, {331, 662});
  };
  EXPECT_FLOAT_EQ(rand(Op::kShearX, 9), 0.09F);
  EXPECT_FLOAT_EQ(rand(Op::kTranslateX, 30), 150);
  EXPECT_FLOAT_EQ(rand(Op::kTranslateY, 10), 100);
  EXPECT_FLOAT_EQ(rand(Op::kRotate, 9), 9);
  EXPECT_FLOAT_EQ(rand(Op::kSharpness, 10), 0.3F);
  EXPECT_FLOAT_EQ(rand(Op::kSolarize, 9), 178.5F);
  EXPECT_EQ(rand(Op::kEqualize, 9), 0);
  EXPECT_FLOAT_EQ(wide(Op::kShearY, 30), 0.99F);
  EXPECT_EQ(wide(Op::kTranslateX, 15), 16);
  EXPECT_FLOAT_EQ(wide(Op::kRotate, 20), 90);
  EXPECT_FLOAT_EQ(wide(Op::kColour, 10), 0.33F);
  EXPECT_EQ(wide(Op::kSolarize, 30), 0);
  for (int bin = 0; bin < kMagnitudeBins; ++bin) {
    EXPECT_EQ(rand(Op::kPosterize, bin), 8 - std::nearbyint(static_cast<float>(bin) / 7.5F)) << bin;
    EXPECT_EQ(wide(Op::kPosterize, bin), 8 - std::nearbyint(static_cast<float>(bin) / 5.0F)) << bin;
  }
}

TEST(Augment, APolicyTakesEveryOperation) {
  const Image picture = Noise(24, 17, 3);
  const AugmentPolicy policy{.kind = AugmentPolicyKind::kTrivialAugmentWide};
  std::map<std::string, int> results;
  Image scratch;
  for (uint64_t position = 0; position < 4000; ++position) {
    KeyedRandom random(1, 2, position);
    Image image = picture;
    ApplyPolicy(policy, random, image, scratch);
    ++results[std::string(AsText(image.pixels))];
  }
  // Identity, and others' zeros: 1/14 at least. 9 signed operations have up to 61 results each.
  EXPECT_GT(results[std::string(AsText(picture.pixels))], 4000 / 14 * 3 / 4);
  EXPECT_GT(results.size(), 300u);
}

}  // namespace
}  // namespace recpack

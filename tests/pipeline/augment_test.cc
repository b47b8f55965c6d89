// Operations on pictures against Pillow's, by tests/golden/augment/make_augment.py.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <sstream>

#include "recpack/base/file.h"
#include "recpack/base/hash.h"
#include "src/pipeline/augment_colour.h"

namespace recpack {
namespace {

// make_augment.py has the same.
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

std::map<std::string, Operation> Operations() {
  return {
      {"brightness", [](Image& i, double x) { AdjustBrightness(i, static_cast<float>(x)); }},
      {"contrast", [](Image& i, double x) { AdjustContrast(i, static_cast<float>(x)); }},
      {"saturation", [](Image& i, double x) { AdjustSaturation(i, static_cast<float>(x)); }},
      {"sharpness",
       [scratch = Image()](Image& i, double x) mutable {
         AdjustSharpness(i, static_cast<float>(x), scratch);
       }},
      {"hue", [](Image& i, double x) { AdjustHue(i, x); }},
  };
}

TEST(Augment, PicturesAreThoseOfPillow) {
  const auto operations = Operations();
  const ByteBuffer text = ReadWholeFile(PosixFiles(), RECPACK_GOLDEN_DIR "/augment/cases.txt");
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
    EXPECT_EQ(Hex(sha.Finish()), digest)
        << name << " " << argument << " " << width << "x" << height << "x" << channels;
    ++count[name];
  }
  EXPECT_EQ(count.size(), operations.size());
}

}  // namespace
}  // namespace recpack

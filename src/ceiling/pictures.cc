#include "src/ceiling/pictures.h"

#include <algorithm>
#include <cmath>

#include "recpack/base/random.h"
#include "recpack/image/decode.h"
#include "recpack/image/encode.h"
#include "recpack/image/header.h"
#include "recpack/image/resize.h"

namespace recpack::ceiling {
namespace {

constexpr int kCoarsest = 128;  // distance between grid points of the first octave, in pixels
constexpr float kStrength = 0.75F;

// Grid of random values with smooth interpolation.
class Octave {
 public:
  Octave(ImageSize size, int step, KeyedRandom& random)
      : step_(step), columns_(size.width / step + 2) {
    points_.resize(static_cast<size_t>(columns_) * static_cast<size_t>(size.height / step + 2));
    for (float& point : points_) point = random.NextUnit() - 0.5F;
  }

  float At(int x, int y) const {
    const int column = x / step_, row = y / step_;
    const float right = Part(x), below = Part(y);
    const float* above = &points_[static_cast<size_t>(row) * columns_ + column];
    const float* under = above + columns_;
    return (above[0] * (1 - right) + above[1] * right) * (1 - below) +
           (under[0] * (1 - right) + under[1] * right) * below;
  }

 private:
  float Part(int at) const { return static_cast<float>(at % step_) / static_cast<float>(step_); }

  int step_;
  size_t columns_;
  std::vector<float> points_;
};

Image Noise(ImageSize size, uint64_t number) {
  Image image;
  image.Reshape(size.width, size.height, 3);
  for (int c = 0; c < 3; ++c) {
    KeyedRandom random(number, static_cast<uint32_t>(c), 0);
    std::vector<Octave> octaves;
    for (int step = kCoarsest; step >= 1; step /= 2) octaves.emplace_back(size, step, random);
    for (int y = 0; y < size.height; ++y) {
      uint8_t* row = image.row(y);
      for (int x = 0; x < size.width; ++x) {
        float value = 0, strength = 1;
        for (const Octave& octave : octaves) {
          value += strength * octave.At(x, y);
          strength *= kStrength;
        }
        row[3 * x + c] = static_cast<uint8_t>(std::clamp(128 + 160 * value, 0.0F, 255.0F));
      }
    }
  }
  return image;
}

}  // namespace

std::vector<ByteBuffer> NoisePictures(size_t count, ImageSize size, int quality) {
  std::vector<ByteBuffer> pictures;
  pictures.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    pictures.push_back(EncodeJpeg(Noise(size, i), {.quality = quality}));
  }
  return pictures;
}

std::vector<ByteBuffer> ResizedPictures(std::span<const ByteView> pictures, int shorter,
                                        int quality) {
  std::vector<ByteBuffer> resized;
  resized.reserve(pictures.size());
  ImageDecoder decoder;
  Image image;
  for (const ByteView picture : pictures) {
    const ImageHeader header = ReadImageHeader(picture);
    if (std::min(header.width, header.height) <= shorter) {
      resized.emplace_back(picture.begin(), picture.end());
      continue;
    }
    decoder.Decode(picture, {}, image);
    const ImageSize size = ScaleShorterSide({image.width, image.height}, shorter);
    resized.push_back(EncodeJpeg(Resize(image, {.width = size.width, .height = size.height}),
                                 {.quality = quality}));
  }
  return resized;
}

double CountPixels(std::span<const ByteView> pictures) {
  double pixels = 0;
  for (const ByteView picture : pictures) {
    const ImageHeader header = ReadImageHeader(picture);
    pixels += static_cast<double>(header.width) * header.height;
  }
  return pixels;
}

}  // namespace recpack::ceiling

// Naive reference of finishing, independent of kernels/: crops into planes, flips, normalises,
// looks up the nearest value of the type, and lays out.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "recpack/kernels/finish.h"

namespace recpack {

// Decodes 16 bits to f32, without the sign.
inline double DecodeF16(uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = bits & 1023;
  if (exponent == 31) return std::numeric_limits<double>::infinity();
  if (exponent == 0) return std::ldexp(fraction, -24);
  return std::ldexp(1024 + fraction, exponent - 25);
}
inline double DecodeBf16(uint32_t bits) {
  bits <<= 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Returns the bits of the nearest value among decode(0), decode(1), ..., decode(infinity), which
// are ascending; ties go to the even one. Infinity counts as one more step.
inline uint16_t Nearest(float value, double (*decode)(uint32_t), uint32_t infinity) {
  const double magnitude = std::abs(static_cast<double>(value));
  uint32_t low = 0, high = infinity;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (decode(middle) <= magnitude ? low : high) = middle;
  }
  const double below = decode(low);
  const double above = high == infinity ? 2 * below - decode(low - 1) : decode(high);
  const double down = magnitude - below, up = above - magnitude;
  const uint32_t nearest = down < up ? low : (up < down ? high : low + (low & 1));
  return static_cast<uint16_t>(nearest | (std::signbit(value) ? 0x8000u : 0));
}
inline uint16_t NaiveF16(float value) { return Nearest(value, DecodeF16, 0x7c00); }
inline uint16_t NaiveBf16(float value) { return Nearest(value, DecodeBf16, 0x7f80); }

// Stores product and sum as f32 in memory, so that they are not fused.
inline float NaiveNormalised(uint8_t value, float scale, float bias) {
  volatile float result = static_cast<float>(value);
  result = result * scale;
  result = result + bias;
  return result;
}

// Returns the bytes of one element.
inline std::vector<uint8_t> NaiveElement(const FinishOptions& o, uint8_t value, size_t channel) {
  if (o.type == ElementType::kU8) return {value};
  const float normalised = NaiveNormalised(value, o.scale[channel], o.bias[channel]);
  std::vector<uint8_t> bytes(o.type == ElementType::kF32 ? 4 : 2);
  if (o.type == ElementType::kF32) {
    std::memcpy(bytes.data(), &normalised, 4);
  } else {
    const uint16_t half =
        o.type == ElementType::kF16 ? NaiveF16(normalised) : NaiveBf16(normalised);
    std::memcpy(bytes.data(), &half, 2);
  }
  return bytes;
}

// Caches the elements of one set of factors.
class NaiveFinisher {
 public:
  explicit NaiveFinisher(const FinishOptions& options) : options_(options) {
    for (size_t c = 0; c < 4; ++c) {
      for (int value = 0; value < 256; ++value) {
        elements_[c].push_back(NaiveElement(options, static_cast<uint8_t>(value), c));
      }
    }
  }

  // Finishes with `sizes`, whose factors and type must be those given before.
  std::vector<uint8_t> operator()(const FinishOptions& sizes, const std::vector<uint8_t>& image,
                                  const FinishGeometry& geometry) const {
    std::vector<uint8_t> out;
    const auto push = [&](int c, int y, int x) {
      const uint8_t value = Cropped(sizes, image, geometry, c, y, x);
      const auto& element = elements_[static_cast<size_t>(c)][value];
      out.insert(out.end(), element.begin(), element.end());
    };
    const bool nchw = sizes.out_layout == ImageLayout::kNchw;
    for (int c = 0; c < (nchw ? sizes.channels : 1); ++c) {
      for (int y = 0; y < sizes.out_height; ++y) {
        for (int x = 0; x < sizes.out_width; ++x) {
          if (nchw) push(c, y, x);
          for (int k = 0; !nchw && k < sizes.channels; ++k) push(k, y, x);
        }
      }
    }
    return out;
  }

 private:
  static uint8_t Cropped(const FinishOptions& o, const std::vector<uint8_t>& image,
                         const FinishGeometry& geometry, int c, int y, int x) {
    const long flipped = geometry.flip ? o.out_width - 1L - x : x;
    const long row = y + static_cast<long>(geometry.y), column = flipped + geometry.x;
    if (row < 0 || column < 0 || row >= o.in_height || column >= o.in_width) return o.fill;
    long at = (row * o.in_width + column) * o.channels + c;
    if (o.in_layout == ImageLayout::kNchw) at = (c * o.in_height + row) * o.in_width + column;
    return image.at(static_cast<size_t>(at));
  }

  FinishOptions options_;
  std::vector<std::vector<uint8_t>> elements_[4];
};

}  // namespace recpack

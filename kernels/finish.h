// Reference implementation of finishing, one element at a time, for the host and for CUDA. Every
// faster path must match it bit for bit. Compile with -ffp-contract=off and -fmad=false.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "recpack/kernels/finish.h"

#if defined(__CUDACC__)
#define RECPACK_HOST_DEVICE __host__ __device__
#else
#define RECPACK_HOST_DEVICE
#endif

namespace recpack {

RECPACK_HOST_DEVICE inline float Normalise(uint8_t value, float scale, float bias) {
  const float product = static_cast<float>(value) * scale;
  return product + bias;
}

RECPACK_HOST_DEVICE inline uint32_t FloatBits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Rounds to nearest, ties to even. NaN is not supported, here and below.
RECPACK_HOST_DEVICE inline uint16_t ToBf16(float value) {
  const uint32_t bits = FloatBits(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Branch-free, so that compilers can vectorise it.
RECPACK_HOST_DEVICE inline uint16_t ToF16(float value) {
  const uint32_t bits = FloatBits(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  const uint32_t normal = (rounded - (112u << 23)) >> 13;
  // Below 2^-14 the last bit is worth 2^-24, like that of 0.5: the addition rounds.
  float positive;
  memcpy(&positive, &magnitude, sizeof positive);
  const uint32_t subnormal = FloatBits(positive + 0.5F) - FloatBits(0.5F);
  const uint32_t half = magnitude < 113u << 23 ? subnormal : normal;
  const uint32_t finite_half = magnitude < 0x477ff000 ? half : 0x7c00;  // infinity from 65520 on
  return static_cast<uint16_t>(sign | finite_half);
}

// Writes element `index` of a result.
RECPACK_HOST_DEVICE inline void StoreElement(ElementType type, uint8_t value, float scale,
                                             float bias, void* out, size_t index) {
  const float normalised = Normalise(value, scale, bias);
  switch (type) {
    case ElementType::kU8:
      static_cast<uint8_t*>(out)[index] = value;
      return;
    case ElementType::kF16: {
      const uint16_t half = ToF16(normalised);
      memcpy(static_cast<uint8_t*>(out) + index * 2, &half, 2);
      return;
    }
    case ElementType::kBf16: {
      const uint16_t half = ToBf16(normalised);
      memcpy(static_cast<uint8_t*>(out) + index * 2, &half, 2);
      return;
    }
    default:
      memcpy(static_cast<uint8_t*>(out) + index * 4, &normalised, 4);
  }
}

// Returns the index of an element in an image.
RECPACK_HOST_DEVICE inline size_t ElementIndex(ImageLayout layout, int height, int width,
                                               int channels, int channel, int64_t y, int64_t x) {
  const int64_t index = layout == ImageLayout::kNhwc ? (y * width + x) * channels + channel
                                                     : (channel * int64_t{height} + y) * width + x;
  return static_cast<size_t>(index);
}

// Returns the u8 source value of an element of the result.
RECPACK_HOST_DEVICE inline uint8_t SourceValue(const FinishOptions& o, const uint8_t* image,
                                               const FinishGeometry& g, int channel, int y, int x) {
  const int64_t row = int64_t{g.y} + y;
  const int64_t column = int64_t{g.x} + (g.flip ? o.out_width - 1 - x : x);
  if (row < 0 || row >= o.in_height || column < 0 || column >= o.in_width) return o.fill;
  return image[ElementIndex(o.in_layout, o.in_height, o.in_width, o.channels, channel, row,
                            column)];
}

// Finishes one element.
RECPACK_HOST_DEVICE inline void FinishElement(const FinishOptions& o, const uint8_t* image,
                                              const FinishGeometry& g, int channel, int y, int x,
                                              void* out) {
  const auto c = static_cast<size_t>(channel);
  StoreElement(o.type, SourceValue(o, image, g, channel, y, x), o.scale[c], o.bias[c], out,
               ElementIndex(o.out_layout, o.out_height, o.out_width, o.channels, channel, y, x));
}

}  // namespace recpack

// Reference implementation of mixing two images, one element at a time. Compile with
// -ffp-contract=off and -fmad=false.
#pragma once

#include "kernels/finish.h"

namespace recpack {

RECPACK_HOST_DEVICE inline float BitsToFloat(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

RECPACK_HOST_DEVICE inline float FromBf16(uint16_t value) {
  return BitsToFloat(uint32_t{value} << 16);
}

RECPACK_HOST_DEVICE inline float FromF16(uint16_t value) {
  const uint32_t sign = (value & 0x8000u) << 16;
  const uint32_t magnitude = value & 0x7fffu;
  if (magnitude >= 0x7c00) return BitsToFloat(sign | 0x7f800000 | ((magnitude & 0x3ff) << 13));
  if (magnitude >= 0x400) return BitsToFloat(sign | ((magnitude << 13) + (112u << 23)));
  const float positive = static_cast<float>(magnitude) * 0x1p-24F;
  return sign != 0 ? -positive : positive;
}

RECPACK_HOST_DEVICE inline float MixValues(float a, float b, float weight_a, float weight_b) {
  const float first = a * weight_a;
  const float second = b * weight_b;
  return first + second;
}

}  // namespace recpack

// Vectors of sixteen numbers in the compiler's vector types, for all CPU levels. A path defines
// RECPACK_PATH (its namespace) and RECPACK_TARGET (the attribute that its functions need) and
// includes this file; all is inlined into its functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#define RECPACK_TARGET_INLINE RECPACK_TARGET __attribute__((always_inline)) inline

namespace recpack::RECPACK_PATH {

constexpr size_t kLanes = 16;
using Floats = float __attribute__((vector_size(64)));
using Words = uint32_t __attribute__((vector_size(64)));
using Halves = uint16_t __attribute__((vector_size(32)));

struct Bf16 {
  uint16_t bits;
};

RECPACK_TARGET_INLINE Floats LoadLanes(const float* from) {
  Floats value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
RECPACK_TARGET_INLINE Floats LoadLanes(const Bf16* from) {
  Halves half;
  std::memcpy(&half, from, sizeof half);
  const Words bits = __builtin_convertvector(half, Words) << 16;
  return reinterpret_cast<Floats>(bits);
}
RECPACK_TARGET_INLINE void StoreLanes(float* to, Floats value) {
  std::memcpy(to, &value, sizeof value);
}
// Rounds to nearest, ties to even; the NaNs that arithmetic produces stay NaN.
RECPACK_TARGET_INLINE void StoreLanes(Bf16* to, Floats value) {
  const Words bits = reinterpret_cast<Words>(value);
  const Halves half = __builtin_convertvector((bits + 0x7fff + (bits >> 16 & 1)) >> 16, Halves);
  std::memcpy(to, &half, sizeof half);
}

RECPACK_TARGET_INLINE float LoadOne(const float* from) { return *from; }
RECPACK_TARGET_INLINE float LoadOne(const Bf16* from) {
  const uint32_t bits = static_cast<uint32_t>(from->bits) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
RECPACK_TARGET_INLINE void StoreOne(float* to, float value) { *to = value; }
RECPACK_TARGET_INLINE void StoreOne(Bf16* to, float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  to->bits = static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Returns value if test > 0, otherwise (also if test is NaN) 0.
RECPACK_TARGET_INLINE Floats WhereAbove0(Floats test, Floats value) {
  return test > Floats{} ? value : Floats{};
}
RECPACK_TARGET_INLINE float WhereAbove0(float test, float value) { return test > 0 ? value : 0; }

// max(value, 0); propagates NaN.
RECPACK_TARGET_INLINE Floats Relu(Floats value) { return value < Floats{} ? Floats{} : value; }
RECPACK_TARGET_INLINE float Relu(float value) { return value < 0 ? 0 : value; }

// Common interface for loops over vectors and over the remaining single elements.
template <typename Value>
struct LaneAccess;
template <>
struct LaneAccess<Floats> {
  static constexpr size_t kCount = kLanes;
  template <typename T>
  RECPACK_TARGET_INLINE static Floats Load(const T* from) {
    return LoadLanes(from);
  }
  template <typename T>
  RECPACK_TARGET_INLINE static void Store(T* to, Floats value) {
    StoreLanes(to, value);
  }
};
template <>
struct LaneAccess<float> {
  static constexpr size_t kCount = 1;
  template <typename T>
  RECPACK_TARGET_INLINE static float Load(const T* from) {
    return LoadOne(from);
  }
  template <typename T>
  RECPACK_TARGET_INLINE static void Store(T* to, float value) {
    StoreOne(to, value);
  }
};

}  // namespace recpack::RECPACK_PATH

// Portable exp, log, sin and cos for double: use only additions and multiplications, so that every
// machine and C library gives the same bits. Accurate to about 2 units in the last place.
#pragma once

#include <cmath>

namespace recpack {

inline constexpr double kLn2High =
    0x1.62e42fefa0000p-1;  // 33 bits: products with small n are exact
inline constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;

// Python's round(): halves to even.
inline int PortableRound(double x) { return static_cast<int>(std::nearbyint(x)); }

// |x| < 700.
inline double PortableExp(double x) {
  const double n = std::nearbyint(x * 1.4426950408889634);
  const double r = (x - n * kLn2High) - n * kLn2Low;
  double sum = 1;
  for (int k = 14; k >= 1; --k) sum = sum * r / k + 1;  // Taylor's series by Horner's rule
  return std::ldexp(sum, static_cast<int>(n));
}

// x > 0.
inline double PortableLog(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // in [0.5, 1)
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);  // log m = 2 artanh s
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * (s * s) + 1.0 / k;
  return exponent * kLn2High + (exponent * kLn2Low + 2 * s * sum);
}

struct SinCos {
  double sin, cos;
};

// |x| < 1000.
inline SinCos PortableSinCos(double x) {
  constexpr double kHalfPiHigh = 0x1.921fb54400000p+0;  // 33 bits
  constexpr double kHalfPiLow = 0x1.0b4611a626331p-34;
  const double n = std::nearbyint(x * 0.63661977236758134);
  const double r = (x - n * kHalfPiHigh) - n * kHalfPiLow;  // |r| <= pi / 4
  double sine = 1, cosine = 1;                              // Taylor's series by Horner's rule
  for (int k = 16; k >= 2; k -= 2) {
    sine = 1 - sine * (r * r) / (k * (k + 1));
    cosine = 1 - cosine * (r * r) / (k * (k - 1));
  }
  sine *= r;
  switch (static_cast<int>(n) & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

}  // namespace recpack

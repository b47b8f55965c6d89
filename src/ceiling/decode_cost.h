// Cost model of JPEG decoding, by encoded bytes and pixels.
#pragma once

#include <span>

namespace recpack::ceiling {

// Coefficients in seconds of one core. Entropy decoding depends on encoded bytes, the rest on
// pixels.
struct DecodeCost {
  double picture = 0;  // per image
  double byte = 0;     // per byte of entropy-coded data that is decoded
  double pixel = 0;    // per pixel of the result

  double Seconds(double bytes, double pixels) const {
    return picture + byte * bytes + pixel * pixels;
  }
};

// Averages over images of one kind.
struct DecodePoint {
  double bytes = 0;
  double pixels = 0;
  double seconds = 0;
};

// Fits non-negative costs by least squares of the relative errors. With as many points as costs the
// fit is exact if possible.
DecodeCost FitDecodeCost(std::span<const DecodePoint> points);

}  // namespace recpack::ceiling

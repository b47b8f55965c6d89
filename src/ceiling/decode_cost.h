// What decoding a JPEG takes, by what is in it.
#pragma once

#include <span>

namespace recpack::ceiling {

// Seconds of one core. Entropy decoding goes by encoded bytes, the rest by pixels.
struct DecodeCost {
  double picture = 0;  // each, whatever its size
  double byte = 0;     // of entropy-coded data that is decoded
  double pixel = 0;    // that is made

  double Seconds(double bytes, double pixels) const {
    return picture + byte * bytes + pixel * pixels;
  }
};

// Pictures of one kind, on average.
struct DecodePoint {
  double bytes = 0;
  double pixels = 0;
  double seconds = 0;
};

// Least squares of the relative errors, no cost below 0. Of as many points as there are costs it is
// exact where that is possible.
DecodeCost FitDecodeCost(std::span<const DecodePoint> points);

}  // namespace recpack::ceiling

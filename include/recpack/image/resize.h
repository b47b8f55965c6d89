// Bilinear resizing with integer weights.
#pragma once

#include "recpack/image/image.h"

namespace recpack {

struct ResizeOptions {
  int width = 0;   // of the result, at least 1
  int height = 0;  // of the result, at least 1
  // Widen the filter with the scale when shrinking, as Pillow and torchvision do. Off: two taps a
  // direction, as OpenCV's INTER_LINEAR.
  bool antialias = true;
};

// Weights are those of a triangle of half-width max(1, scale) pixels around the centre
// (i + 0.5) * scale, computed in double, normalised, and rounded to 22 fractional bits; columns
// first, rows second, each rounded to 8 bits: the fixed-point scheme of Pillow's resample, whose
// results these are. 1 to 4 channels. Throws Error (kInvalidArgument) for empty images or
// sizes.
Image Resize(const Image& image, const ResizeOptions& options);

struct ImageSize {
  int width = 0;
  int height = 0;
  bool operator==(const ImageSize&) const = default;
};

// The size whose shorter side is `shorter` and whose longer side is the aspect's, rounded down, as
// torchvision's Resize(N) has it; at least 1.
ImageSize ScaleShorterSide(ImageSize size, int shorter);

}  // namespace recpack

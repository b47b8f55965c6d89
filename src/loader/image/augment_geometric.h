// Shears, translations and rotations as in Pillow 11's transform() and rotate().
#pragma once

#include "recpack/image/image.h"
#include "recpack/image/resize.h"
#include "recpack/loader/augment.h"

namespace recpack {

// Maps the result's point (x, y) to the source's (a x + b y + c, d x + e y + f). Pixel centres are
// at halves.
struct Affine {
  double a = 1, b = 0, c = 0;
  double d = 0, e = 1, f = 0;
};

Affine ShearX(double slope);
Affine ShearY(double slope);
Affine Translate(int x, int y);
// Counter-clockwise about the centre, rounded as in Pillow.
Affine Rotate(double degrees, ImageSize size);

// Writes to `to`, which gets the size of `from`; pixels from outside are 0. 1 or 3 channels.
// Nearest: coordinates have 16 fractional bits, equal to Pillow. Bilinear: computed in double and
// truncated; values that come out whole may differ from Pillow's by 1.
void Warp(const Image& from, const Affine& affine, Interpolation interpolation, Image& to);

}  // namespace recpack

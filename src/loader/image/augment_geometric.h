// Shears, shifts and turns as Pillow 11's transform() and rotate() do them.
#pragma once

#include "recpack/image/image.h"
#include "recpack/image/resize.h"
#include "recpack/loader/augment.h"

namespace recpack {

// The result's point (x, y) is the source's (a x + b y + c, d x + e y + f); centres of pixels lie
// at halves.
struct Affine {
  double a = 1, b = 0, c = 0;
  double d = 0, e = 1, f = 0;
};

Affine ShearX(double slope);
Affine ShearY(double slope);
Affine Translate(int x, int y);
// Counter-clockwise about the middle, as Pillow rounds it.
Affine Rotate(double degrees, ImageSize size);

// Writes to `to`, of the size of `from`; what lies outside becomes 0. 1 or 3 channels. Nearest
// points are found in 16 fractional bits and equal Pillow's; bilinear values are double, cut off,
// and where they come out whole may be 1 off Pillow's.
void Warp(const Image& from, const Affine& affine, Interpolation interpolation, Image& to);

}  // namespace recpack

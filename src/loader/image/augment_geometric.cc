#include "src/loader/image/augment_geometric.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "src/loader/image/portable_math.h"

namespace recpack {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Python's round(value, 15), which rounds the exact product.
double Round15(double value) {
  const double product = value * 1e15;
  const double rest = std::fma(value, 1e15, -product);
  double whole = std::nearbyint(product);
  if (product - whole + rest > 0.5) ++whole;
  if (product - whole + rest < -0.5) --whole;
  return whole / 1e15;
}

int64_t Fixed(double value) { return static_cast<int64_t>(std::floor(value * 65536 + 0.5)); }

// Pillow's affine_fixed.
template <int kChannels>
void Nearest(const Image& from, const Affine& affine, Image& to) {
  const int64_t a = Fixed(affine.a), b = Fixed(affine.b), d = Fixed(affine.d), e = Fixed(affine.e);
  const int64_t c = Fixed(affine.c + affine.a * 0.5 + affine.b * 0.5);
  const int64_t f = Fixed(affine.f + affine.d * 0.5 + affine.e * 0.5);
  for (int y = 0; y < to.height; ++y) {
    int64_t x_at = c + b * y;
    int64_t y_at = f + e * y;
    uint8_t* out = to.row(y);
    for (int x = 0; x < to.width; ++x, x_at += a, y_at += d, out += kChannels) {
      const int64_t column = x_at >> 16;
      const int64_t row = y_at >> 16;
      if (column >= 0 && column < from.width && row >= 0 && row < from.height) {
        std::memcpy(out, from.row(static_cast<int>(row)) + column * kChannels, kChannels);
      } else {
        std::memset(out, 0, kChannels);
      }
    }
  }
}

// Pillow's bilinear_filter at an inner point: the four surrounding pixels, with border pixels
// repeated.
template <int kChannels>
void Mix(const Image& from, double x, double y, uint8_t* out) {
  x -= 0.5;
  y -= 0.5;
  const double left = std::floor(x), top = std::floor(y);
  const double dx = x - left, dy = y - top;
  const auto column = static_cast<int>(left), row = static_cast<int>(top);
  const uint8_t* upper = from.row(std::max(row, 0));
  const uint8_t* lower = row + 1 < from.height ? from.row(row + 1) : upper;
  const int first = std::max(column, 0) * kChannels;
  const int second = std::min(column + 1, from.width - 1) * kChannels;
  for (int c = 0; c < kChannels; ++c) {
    const double above = upper[first + c] + (upper[second + c] - upper[first + c]) * dx;
    const double below = lower[first + c] + (lower[second + c] - lower[first + c]) * dx;
    out[c] = static_cast<uint8_t>(above + (below - above) * dy);
  }
}

template <int kChannels>
void Bilinear(const Image& from, const Affine& affine, Image& to) {
  for (int y = 0; y < to.height; ++y) {
    uint8_t* out = to.row(y);
    for (int x = 0; x < to.width; ++x, out += kChannels) {
      const double x_at = affine.a * (x + 0.5) + affine.b * (y + 0.5) + affine.c;
      const double y_at = affine.d * (x + 0.5) + affine.e * (y + 0.5) + affine.f;
      if (x_at >= 0 && x_at < from.width && y_at >= 0 && y_at < from.height) {
        Mix<kChannels>(from, x_at, y_at, out);
      } else {
        std::memset(out, 0, kChannels);
      }
    }
  }
}

}  // namespace

Affine ShearX(double slope) { return {.b = slope}; }
Affine ShearY(double slope) { return {.d = slope}; }
Affine Translate(int x, int y) {
  return {.c = static_cast<double>(-x), .f = static_cast<double>(-y)};
}

Affine Rotate(double degrees, ImageSize size) {
  // At 45 degrees the last of the 15 digits depends on the turn that the angle is in.
  const double positive = degrees - 360 * std::floor(degrees / 360);
  const auto [sine, cosine] = PortableSinCos(-positive * (kPi / 180));
  Affine turn{.a = Round15(cosine), .b = Round15(sine), .d = Round15(-sine), .e = Round15(cosine)};
  const double x = size.width / 2.0;
  const double y = size.height / 2.0;
  turn.c = turn.a * -x + turn.b * -y + x;
  turn.f = turn.d * -x + turn.e * -y + y;
  return turn;
}

void Warp(const Image& from, const Affine& affine, Interpolation interpolation, Image& to) {
  to.Reshape(from.width, from.height, from.channels);
  const bool gray = from.channels == 1;
  if (interpolation == Interpolation::kNearest) {
    gray ? Nearest<1>(from, affine, to) : Nearest<3>(from, affine, to);
  } else {
    gray ? Bilinear<1>(from, affine, to) : Bilinear<3>(from, affine, to);
  }
}

}  // namespace recpack

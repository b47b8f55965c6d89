#include "src/loader/image/augment_colour.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace recpack {
namespace {

// Pillow's ImagingBlend: f32, truncated.
uint8_t Blend(int from, int to, float factor) {
  const float mixed = static_cast<float>(from) + factor * static_cast<float>(to - from);
  return static_cast<uint8_t>(std::clamp(mixed, 0.0F, 255.0F));
}

// Blends every value with `from`.
void BlendWith(Image& image, int from, float factor) {
  std::array<uint8_t, 256> table;
  for (int i = 0; i < 256; ++i) table[static_cast<size_t>(i)] = Blend(from, i, factor);
  for (uint8_t& value : image.pixels) value = table[value];
}

// Pillow's convert("L"): ITU-R 601-2 in 16 fractional bits.
int Luma(const uint8_t* rgb) {
  return (rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16;
}

size_t Pixels(const Image& image) { return static_cast<size_t>(image.width) * image.height; }

int MeanLuma(const Image& image) {
  uint64_t sum = 0;
  for (size_t i = 0; i < Pixels(image); ++i) {
    const uint8_t* pixel = &image.pixels[i * image.channels];
    sum += static_cast<uint64_t>(image.channels == 3 ? Luma(pixel) : *pixel);
  }
  return static_cast<int>((2 * sum + Pixels(image)) / (2 * Pixels(image)));
}

struct Hsv {
  int h, s, v;
};

// Pillow's rgb2hsv_row, with its mixture of f32 and f64.
Hsv ToHsv(const uint8_t* rgb) {
  const auto [least, most] = std::minmax({rgb[0], rgb[1], rgb[2]});
  if (least == most) return {0, 0, most};
  const auto range = static_cast<float>(most - least);
  const float r = static_cast<float>(most - rgb[0]) / range;
  const float g = static_cast<float>(most - rgb[1]) / range;
  const float b = static_cast<float>(most - rgb[2]) / range;
  float hue = 0;
  if (rgb[0] == most) {
    hue = b - g;
  } else if (rgb[1] == most) {
    hue = static_cast<float>(2.0 + r - b);
  } else {
    hue = static_cast<float>(4.0 + g - r);
  }
  const double turns = hue / 6.0 + 1.0;  // 0.8 to 1.9
  hue = static_cast<float>(turns < 1 ? turns : turns - 1);
  const float saturation = range / static_cast<float>(most);
  return {static_cast<int>(hue * 255.0), static_cast<int>(saturation * 255.0), most};
}

// Pillow's hsv2rgb.
void ToRgb(const Hsv& hsv, uint8_t* rgb) {
  const auto [h, s, v] = hsv;
  const int sector = h * 6 / 255;
  const auto rest = static_cast<float>(h * 6.0 / 255.0 - sector);
  const auto share = static_cast<float>(s / 255.0);
  const auto value = [v = v](double part) { return static_cast<uint8_t>(std::round(v * part)); };
  const uint8_t most = static_cast<uint8_t>(v);
  const uint8_t p = value(1.0 - share);
  const uint8_t q = value(1.0 - share * rest);
  const uint8_t t = value(1.0 - share * (1.0 - rest));
  const std::array<std::array<uint8_t, 3>, 6> sectors = {
      {{most, t, p}, {q, most, p}, {p, most, t}, {p, q, most}, {t, p, most}, {most, p, q}}};
  std::ranges::copy(sectors[static_cast<size_t>(sector % 6)], rgb);
}

}  // namespace

void AdjustBrightness(Image& image, float factor) { BlendWith(image, 0, factor); }

void AdjustContrast(Image& image, float factor) { BlendWith(image, MeanLuma(image), factor); }

void AdjustSaturation(Image& image, float factor) {
  if (image.channels != 3) return;
  for (size_t i = 0; i < image.pixels.size(); i += 3) {
    uint8_t* pixel = &image.pixels[i];
    const int gray = Luma(pixel);
    for (int c = 0; c < 3; ++c) pixel[c] = Blend(gray, pixel[c], factor);
  }
}

// The degenerate picture is Pillow's SMOOTH: 3 x 3 of ones, 5 in the middle, over 13, rounded;
// pixels at the border stay.
void AdjustSharpness(Image& image, float factor, Image& scratch) {
  if (image.width < 3 || image.height < 3) return;
  scratch = image;
  const int step = image.channels;
  for (int y = 1; y + 1 < image.height; ++y) {
    const uint8_t* above = scratch.row(y - 1);
    const uint8_t* here = scratch.row(y);
    const uint8_t* below = scratch.row(y + 1);
    uint8_t* out = image.row(y);
    for (int i = step; i < (image.width - 1) * step; ++i) {
      int sum = 4 * here[i];
      for (int at = i - step; at <= i + step; at += step) sum += above[at] + here[at] + below[at];
      out[i] = Blend((2 * sum + 13) / 26, here[i], factor);
    }
  }
}

void AdjustHue(Image& image, double turn) {
  if (image.channels != 3) return;
  const int steps = static_cast<int>(turn * 255);
  for (size_t i = 0; i < image.pixels.size(); i += 3) {
    Hsv hsv = ToHsv(&image.pixels[i]);
    hsv.h = (hsv.h + steps) & 255;
    ToRgb(hsv, &image.pixels[i]);
  }
}

}  // namespace recpack

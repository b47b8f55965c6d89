#include <algorithm>
#include <cstdlib>

#include "src/image/jpeg/jpeg_kernels.h"

namespace recpack {
namespace {

// Transforms eight values to eight sums with kDctBits more bits.
void InverseDct8(const int* in, int* out) {
  const auto sum2 = [&](int i, int k, const int16_t* c) { return in[i] * c[0] + in[k] * c[1]; };
  const int even04[2] = {(in[0] + in[4]) * (1 << kDctBits), (in[0] - in[4]) * (1 << kDctBits)};
  const int even26[2] = {sum2(2, 6, kDctEven[0]), sum2(2, 6, kDctEven[1])};
  const int even[4] = {even04[0] + even26[0], even04[1] + even26[1], even04[1] - even26[1],
                       even04[0] - even26[0]};
  for (int i = 0; i < 4; ++i) {
    const int odd = sum2(1, 3, kDctOdd[i]) + sum2(5, 7, kDctOdd[i] + 2);
    out[i] = even[i] + odd;
    out[7 - i] = even[i] - odd;
  }
}

int Descale(int value, int bits) { return (value + (1 << (bits - 1))) >> bits; }

bool InverseDct(int16_t* block, const int16_t* quantisers, uint8_t* to, size_t stride) {
  int rows[kBlockSide][kBlockSide], in[kBlockSide], out[kBlockSide];
  int64_t sum = 0;
  for (int i = 0; i < kBlockSize; ++i) sum += std::abs(int64_t{block[i]} * quantisers[i]);
  for (int x = 0; sum <= kMaxBlockSum && x < kBlockSide; ++x) {
    for (int y = 0; y < kBlockSide; ++y) {
      in[y] = block[BlockIndex(y, x)] * quantisers[BlockIndex(y, x)];
    }
    InverseDct8(in, out);
    for (int y = 0; y < kBlockSide; ++y) rows[y][x] = Descale(out[y], kDctBits - kDctPassBits);
  }
  std::fill_n(block, kBlockSize, int16_t{0});
  if (sum > kMaxBlockSum) return false;
  for (int y = 0; y < kBlockSide; ++y, to += stride) {
    InverseDct8(rows[y], out);
    for (int x = 0; x < kBlockSide; ++x) {
      const int sample = Descale(out[x], kDctBits + kDctPassBits + 3) + 128;
      to[x] = static_cast<uint8_t>(std::clamp(sample, 0, 255));
    }
  }
  return true;
}

// Weights the nearer sample by 3/4; ties are rounded up and down alternately (libjpeg's
// jdsample.c).
void Widen(const uint8_t* from, int count, uint8_t* to) {
  for (int i = 0; i < count; ++i) {
    to[2 * i] = static_cast<uint8_t>((3 * from[i] + from[i - 1] + 1) >> 2);
    to[2 * i + 1] = static_cast<uint8_t>((3 * from[i] + from[i + 1] + 2) >> 2);
  }
}

void WidenBetween(const uint8_t* near, const uint8_t* far, int count, uint8_t* to) {
  const auto sum = [&](int i) { return 3 * near[i] + far[i]; };
  for (int i = 0; i < count; ++i) {
    to[2 * i] = static_cast<uint8_t>((3 * sum(i) + sum(i - 1) + 8) >> 4);
    to[2 * i + 1] = static_cast<uint8_t>((3 * sum(i) + sum(i + 1) + 7) >> 4);
  }
}

// Converts JFIF colours with 16 fractional bits (libjpeg's jdcolor.c).
void ToRgb(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int pixels, uint8_t* rgb) {
  constexpr int kHalf = 1 << 15;
  const auto clamp = [](int value) { return static_cast<uint8_t>(std::clamp(value, 0, 255)); };
  for (int i = 0; i < pixels; ++i, rgb += 3) {
    const int blue = cb[i] - 128, red = cr[i] - 128;
    rgb[0] = clamp(y[i] + ((91881 * red + kHalf) >> 16));
    rgb[1] = clamp(y[i] + ((-22554 * blue - 46802 * red + kHalf) >> 16));
    rgb[2] = clamp(y[i] + ((116130 * blue + kHalf) >> 16));
  }
}

}  // namespace

const JpegKernels kScalarJpeg = {.name = "scalar",
                                 .inverse_dct = InverseDct,
                                 .widen = Widen,
                                 .widen_between = WidenBetween,
                                 .to_rgb = ToRgb};

}  // namespace recpack

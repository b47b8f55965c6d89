// Filter weights for one direction of a resize.
#pragma once

#include <cstdint>
#include <vector>

#include "recpack/image/resize.h"
#include "src/image/line_buffer.h"

namespace recpack {

// Fractional bits of a weight: 32, less 8 bits of a pixel and 2 bits of headroom for sums, as in
// Pillow.
constexpr int kWeightBits = 32 - 8 - 2;
constexpr int32_t kHalfWeight = 1 << (kWeightBits - 1);

// Output pixels that kernels process at a time; the weight arrays are padded to a multiple.
constexpr int kPixelsAtOnce = 4;

constexpr int RoundUp(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// One direction: `from` pixels become `to`, of which `size` from `begin` on are computed. There is
// one sample per `step` pixels; the first begins `phase` pixels before the image. Samples from
// `shown` on are available.
struct ResizeAxis {
  int from = 0, to = 0;
  int begin = 0, size = 0;
  int shown = 0;
  int step = 1, phase = 0;
  bool operator==(const ResizeAxis&) const = default;

  bool scales() const noexcept { return from != to || step != 1; }
  int samples() const noexcept { return (from + phase + step - 1) / step; }
  double samples_per_output() const noexcept { return static_cast<double>(from) / to / step; }
  // Converts the output position `at` to samples.
  double Centre(double at) const noexcept {
    return (at * (static_cast<double>(from) / to) + phase) / step;
  }
};

// Returns half the width of the filter, in samples.
double ResizeSupport(const ResizeAxis& axis, ResizeFilter filter);

// Output i is the sum of pixels[first[i] + k] * of(i)[k] over k < count[i], where count[i] is at
// least 1 and at most `taps`; the weights from there to `stride` are 0. `first` is non-decreasing.
class ResizeWeights {
 public:
  // Fills `packed` with the weights in the layout of a kernel. May be null.
  using Pack = void (*)(ResizeWeights& weights);

  // Computes the weights; does nothing if the arguments equal those of the last call.
  void Set(const ResizeAxis& axis, ResizeFilter filter, Pack pack);

  const int32_t* of(int i) const noexcept { return &weights_[static_cast<size_t>(i) * stride]; }
  int padded() const noexcept { return static_cast<int>(first.size()); }

  std::vector<int32_t> first, count;
  LineBuffer<int32_t> packed;
  int taps = 0;    // the largest count
  int stride = 0;  // taps, rounded up to a multiple of four

 private:
  // Computes the weights of output `i`, without zeros at the ends.
  void SetOne(int i, double centre, double support, double narrowing);

  ResizeAxis axis_;
  ResizeFilter filter_ = ResizeFilter::kBilinear;
  std::vector<int32_t> weights_;
  std::vector<double> exact_;
};

}  // namespace recpack

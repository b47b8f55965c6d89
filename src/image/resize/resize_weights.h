// The weights of one direction of a resize.
#pragma once

#include <cstdint>
#include <vector>

#include "recpack/image/resize.h"
#include "src/image/line_buffer.h"

namespace recpack {

// Fractional bits of a weight: 32, less 8 of a pixel and 2 of head room for sums, as in Pillow.
constexpr int kWeightBits = 32 - 8 - 2;
constexpr int32_t kHalfWeight = 1 << (kWeightBits - 1);

// Kernels take output pixels by so many; the arrays of the weights are filled up to a multiple.
constexpr int kPixelsAtOnce = 4;

constexpr int RoundUp(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// One direction: `from` pixels become `to`, of which `size` from `begin` on are made. There is a
// sample for `step` pixels, the first of which begins `phase` pixels early; those from `shown` on
// are there.
struct ResizeAxis {
  int from = 0, to = 0;
  int begin = 0, size = 0;
  int shown = 0;
  int step = 1, phase = 0;
  bool operator==(const ResizeAxis&) const = default;

  bool scales() const noexcept { return from != to || step != 1; }
  int samples() const noexcept { return (from + phase + step - 1) / step; }
  double samples_per_output() const noexcept { return static_cast<double>(from) / to / step; }
  // Where the place `at` of the output is, in samples.
  double Centre(double at) const noexcept {
    return (at * (static_cast<double>(from) / to) + phase) / step;
  }
};

// Half the width of the filter, in samples.
double ResizeSupport(const ResizeAxis& axis, ResizeFilter filter);

// Output i of those made is the sum of pixels[first[i] + k] * of(i)[k] over k < count[i], where
// count[i] is at least 1 and at most `taps`; the weights from there to `stride` are 0. `first` does
// not fall.
class ResizeWeights {
 public:
  // Fills `packed` with the weights as a kernel wants them. May be null.
  using Pack = void (*)(ResizeWeights& weights);

  // Fills all; does nothing where it was the same last time.
  void Set(const ResizeAxis& axis, ResizeFilter filter, Pack pack);

  const int32_t* of(int i) const noexcept { return &weights_[static_cast<size_t>(i) * stride]; }
  int padded() const noexcept { return static_cast<int>(first.size()); }

  std::vector<int32_t> first, count;
  LineBuffer<int32_t> packed;
  int taps = 0;    // the largest count
  int stride = 0;  // taps, rounded up to a multiple of four

 private:
  // The weights of output `i` of those made, without zeros at the ends.
  void SetOne(int i, double centre, double support, double narrowing);

  ResizeAxis axis_;
  ResizeFilter filter_ = ResizeFilter::kBilinear;
  std::vector<int32_t> weights_;
  std::vector<double> exact_;
};

}  // namespace recpack

#include "src/image/resize/resize_weights.h"

#include <algorithm>
#include <cmath>

namespace recpack {
namespace {

double Value(ResizeFilter filter, double x) {
  if (filter == ResizeFilter::kNearest) return 1;
  if (filter == ResizeFilter::kBox) return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
  return std::max(0.0, 1.0 - std::abs(x));
}

double Widening(const ResizeAxis& axis, ResizeFilter filter) {
  if (filter == ResizeFilter::kBilinearTwoTaps || filter == ResizeFilter::kNearest) return 1;
  return std::max(axis.samples_per_output(), 1.0);
}

}  // namespace

double ResizeSupport(const ResizeAxis& axis, ResizeFilter filter) {
  const bool half = filter == ResizeFilter::kBox || filter == ResizeFilter::kNearest;
  return (half ? 0.5 : 1.0) * Widening(axis, filter);
}

void ResizeWeights::SetOne(int i, double centre, double support, double narrowing) {
  int begin = std::max(0, static_cast<int>(centre - support + 0.5));
  int end = std::min(axis_.samples(), static_cast<int>(centre + support + 0.5));
  if (filter_ == ResizeFilter::kNearest) {  // exactly one, also if rounding gives two or none
    begin = std::min(static_cast<int>(centre), axis_.samples() - 1);
    end = begin + 1;
  }
  double sum = 0;
  for (int k = begin; k < end; ++k) {
    exact_[k - begin] = Value(filter_, (k - centre + 0.5) * narrowing);
    sum += exact_[k - begin];
  }
  int32_t* to = &weights_[static_cast<size_t>(i) * stride];
  int size = 0;
  for (int k = begin; k < end; ++k) {
    const double share = exact_[k - begin] / sum;
    const auto weight = static_cast<int32_t>(0.5 + share * (1 << kWeightBits));
    if (size == 0 && weight == 0) continue;
    if (size == 0) first[i] = k - axis_.shown;
    to[size++] = weight;
  }
  while (size > 1 && to[size - 1] == 0) --size;
  std::fill(to + size, to + stride, 0);
  count[i] = size;
}

void ResizeWeights::Set(const ResizeAxis& axis, ResizeFilter filter, Pack pack) {
  if (axis == axis_ && filter == filter_) return;
  axis_ = axis, filter_ = filter;
  axis_.size = 0;  // invalidates the weights in case an allocation throws
  const double narrowing = 1.0 / Widening(axis, filter);
  const double support = ResizeSupport(axis, filter);
  stride = RoundUp(static_cast<int>(std::ceil(support)) * 2 + 1, 4);
  const auto padded = static_cast<size_t>(RoundUp(axis.size, kPixelsAtOnce));
  first.resize(padded);
  count.resize(padded);
  weights_.resize(padded * static_cast<size_t>(stride));
  exact_.resize(static_cast<size_t>(stride));
  for (int i = 0; i < axis.size; ++i) {
    SetOne(i, axis.Centre(axis.begin + i + 0.5), support, narrowing);
  }
  taps = *std::max_element(count.begin(), count.begin() + axis.size);
  std::fill(first.begin() + axis.size, first.end(), first[axis.size - 1]);
  std::fill(count.begin() + axis.size, count.end(), 1);
  std::fill(weights_.begin() + static_cast<ptrdiff_t>(axis.size) * stride, weights_.end(), 0);
  if (pack != nullptr) pack(*this);
  axis_ = axis;
}

}  // namespace recpack

#include "src/image/resize_weights.h"

#include <algorithm>
#include <cmath>

namespace recpack {
namespace {

double Value(ResizeFilter filter, double x) {
  if (filter == ResizeFilter::kBox) return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
  return std::max(0.0, 1.0 - std::abs(x));
}

}  // namespace

void ResizeWeights::SetOne(int i, double centre, double support, double narrowing, int room) {
  int begin = std::max(0, static_cast<int>(centre - support + 0.5));
  int end = std::min(from_, static_cast<int>(centre + support + 0.5));
  double sum = 0;
  for (int k = begin; k < end; ++k) {
    exact_[k - begin] = Value(filter_, (k - centre + 0.5) * narrowing);
    sum += exact_[k - begin];
  }
  int32_t* to = &weights_[static_cast<size_t>(i) * room];
  int size = 0;
  for (int k = begin; k < end; ++k) {
    const double share = exact_[k - begin] / sum;
    const auto weight = static_cast<int32_t>(0.5 + share * (1 << kWeightBits));
    if (size == 0 && weight == 0) continue;
    if (size == 0) first[i] = k;
    to[size++] = weight;
  }
  while (size > 1 && to[size - 1] == 0) --size;
  std::fill(to + size, to + room, 0);
  count[i] = size;
}

void ResizeWeights::Set(int from, int to, ResizeFilter filter, Pack pack) {
  if (from == from_ && to == to_ && filter == filter_) return;
  to_ = 0;  // in case memory runs out on the way
  from_ = from, filter_ = filter;
  const double scale = static_cast<double>(from) / to;
  const double widening = filter == ResizeFilter::kBilinearTwoTaps ? 1.0 : std::max(scale, 1.0);
  const double support = (filter == ResizeFilter::kBox ? 0.5 : 1.0) * widening;
  stride = RoundUp(static_cast<int>(std::ceil(support)) * 2 + 1, 4);
  const auto padded = static_cast<size_t>(RoundUp(to, kPixelsAtOnce));
  first.resize(padded);
  count.resize(padded);
  weights_.resize(padded * static_cast<size_t>(stride));
  exact_.resize(static_cast<size_t>(stride));
  for (int i = 0; i < to; ++i) SetOne(i, (i + 0.5) * scale, support, 1.0 / widening, stride);
  taps = *std::max_element(count.begin(), count.begin() + to);
  std::fill(first.begin() + to, first.end(), first[to - 1]);
  std::fill(count.begin() + to, count.end(), 1);
  std::fill(weights_.begin() + static_cast<ptrdiff_t>(to) * stride, weights_.end(), 0);
  if (pack != nullptr) pack(*this);
  to_ = to;
}

}  // namespace recpack

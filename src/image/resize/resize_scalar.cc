#include <algorithm>

#include "src/image/resize/resize_kernels.h"

namespace recpack {
namespace {

uint8_t Narrow(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255)); }

template <int kChannels>
void Columns(const uint8_t* from, const ResizeWeights& weights, uint8_t* to) {
  for (int x = 0; x < weights.padded(); ++x, to += kChannels) {
    const int32_t* weight = weights.of(x);
    const uint8_t* pixel = from + static_cast<ptrdiff_t>(weights.first[x]) * kChannels;
    int32_t sums[kChannels];
    std::fill_n(sums, kChannels, kHalfWeight);
    for (int k = 0; k < weights.count[x]; ++k, pixel += kChannels) {
      for (int c = 0; c < kChannels; ++c) sums[c] += pixel[c] * weight[k];
    }
    for (int c = 0; c < kChannels; ++c) to[c] = Narrow(sums[c]);
  }
}

void ScalarColumns(const uint8_t* from, const ResizeWeights& weights, int channels, uint8_t* to) {
  constexpr decltype(&Columns<1>) kOfChannels[] = {Columns<1>, Columns<2>, Columns<3>, Columns<4>};
  kOfChannels[channels - 1](from, weights, to);
}

void ScalarRows(const uint8_t* const* from, const ResizeWeights& weights, int y, size_t bytes,
                uint8_t* to) {
  constexpr size_t kBlock = 512;
  const int32_t* weight = weights.of(y);
  for (size_t start = 0; start < bytes; start += kBlock) {
    const size_t size = std::min(kBlock, bytes - start);
    int32_t sums[kBlock];
    std::fill_n(sums, size, kHalfWeight);
    for (int k = 0; k < weights.count[y]; ++k) {
      for (size_t i = 0; i < size; ++i) sums[i] += from[k][start + i] * weight[k];
    }
    std::transform(sums, sums + size, to + start, Narrow);
  }
}

}  // namespace

const ResizeKernels kScalarResize = {.name = "scalar",
                                     .pack_columns = nullptr,
                                     .pack_rows = nullptr,
                                     .columns = ScalarColumns,
                                     .rows = ScalarRows};

}  // namespace recpack

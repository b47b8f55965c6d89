// Normalisation of each element, and its gradient, from values per channel.
#include "kernels/cuda/fast_divide.h"
#include "src/train/cuda/kernels/norm_form.h"

namespace recpack::train {
namespace {

// Maps a group of elements to its channels.
struct ChannelMap {
  uint32_t channels, of_row;  // number of groups per pixel (NHWC) or plane
  FastDivide by_row, by_channels;
  bool nhwc;
};

ChannelMap ToMap(const ByChannel& shape, uint32_t vector) {
  const bool nhwc = shape.layout == ImageLayout::kNhwc;
  const uint32_t channels = Count32(shape.channels);
  const uint32_t of_row = (nhwc ? channels : Count32(shape.plane)) / vector;
  return {channels, of_row, FastDivide(of_row), FastDivide(channels), nhwc};
}

// Loads per-channel values for the elements of a group. Arrays are aligned.
template <int kCount>
__device__ void LoadConstants(const ChannelMap& map, uint32_t group, const float* from,
                              float (&to)[kCount]) {
  const uint32_t row = map.by_row(group);
  if (map.nhwc) {
    Load(from + (group - row * map.of_row) * kCount, to);
  } else {
    const float value = from[row - map.by_channels(row) * map.channels];
    for (int j = 0; j < kCount; ++j) to[j] = value;
  }
}

template <typename T, int kCount>
__global__ void Apply(const ChannelMap map, uint32_t groups, const NormApplyArrays arrays,
                      bool relu) {
  const auto* x = static_cast<const T*>(arrays.x);
  const auto* residual = static_cast<const T*>(arrays.residual);
  auto* y = static_cast<T*>(arrays.y);
  for (uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < groups; i += gridDim.x * kThreads) {
    const size_t at = static_cast<size_t>(i) * kCount;
    float value[kCount], factor[kCount], term[kCount];
    Load(x + at, value);
    LoadConstants(map, i, arrays.factor, factor);
    LoadConstants(map, i, arrays.term, term);
    for (int j = 0; j < kCount; ++j) value[j] = value[j] * factor[j] + term[j];
    if (residual) {
      float added[kCount];
      Load(residual + at, added);
      for (int j = 0; j < kCount; ++j) value[j] += added[j];
    }
    if (relu) {
      for (int j = 0; j < kCount; ++j) value[j] = Rectify(value[j]);
    }
    Store(value, y + at);
  }
}

template <typename T, int kCount>
__global__ void GradientApply(const ChannelMap map, uint32_t groups,
                              const NormGradientApplyArrays arrays, bool masked) {
  const auto* dy = static_cast<const T*>(arrays.dy);
  const auto* x = static_cast<const T*>(arrays.x);
  auto* dx = static_cast<T*>(arrays.dx);
  for (uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < groups; i += gridDim.x * kThreads) {
    const size_t at = static_cast<size_t>(i) * kCount;
    float g[kCount], value[kCount], of_g[kCount], of_x[kCount], constant[kCount];
    Load(dy + at, g);
    Load(x + at, value);
    if (masked) {
      float factor[kCount], term[kCount];
      LoadConstants(map, i, arrays.factor, factor);
      LoadConstants(map, i, arrays.term, term);
      for (int j = 0; j < kCount; ++j) {
        if (!(value[j] * factor[j] + term[j] > 0)) g[j] = 0;
      }
    }
    LoadConstants(map, i, arrays.of_g, of_g);
    LoadConstants(map, i, arrays.of_x, of_x);
    LoadConstants(map, i, arrays.constant, constant);
    for (int j = 0; j < kCount; ++j) g[j] = of_g[j] * g[j] + of_x[j] * value[j] + constant[j];
    Store(g, dx + at);
  }
}

}  // namespace

void LaunchNormApply(const ByChannel& shape, const NormApplyArrays& a, bool relu,
                     CUstream_st* stream) {
  const uint32_t elements = ElementCount(shape);
  if (elements == 0) return;
  const auto start = [&](auto element, auto count) {
    const uint32_t groups = elements / count();
    Launch("batch normalisation", Apply<decltype(element), count()>, GridFor(groups),
           dim3(kThreads), stream, ToMap(shape, count()), groups, a, relu);
  };
  const auto at = [](const void* array) { return static_cast<const uint8_t*>(array); };
  InForm(shape, start, at(a.x), at(a.residual), at(a.y), a.factor, a.term);
}

void LaunchNormGradientApply(const ByChannel& shape, const NormGradientApplyArrays& a,
                             NormMask mask, CUstream_st* stream) {
  const uint32_t elements = ElementCount(shape);
  if (elements == 0) return;
  const auto start = [&](auto element, auto count) {
    const uint32_t groups = elements / count();
    Launch("batch normalisation's gradient", GradientApply<decltype(element), count()>,
           GridFor(groups), dim3(kThreads), stream, ToMap(shape, count()), groups, a,
           mask == NormMask::kFromX);
  };
  const auto at = [](const void* array) { return static_cast<const uint8_t*>(array); };
  InForm(shape, start, at(a.dy), at(a.x), at(a.dx), a.factor, a.term, a.of_g, a.of_x, a.constant);
}

}  // namespace recpack::train

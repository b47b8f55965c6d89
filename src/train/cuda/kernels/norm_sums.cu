// Sums of batch normalisation: moments of the input, and those of its gradient.
#include <type_traits>

#include "kernels/cuda/fast_divide.h"
#include "src/train/cuda/kernels/kernels.h"
#include "src/train/cuda/kernels/norm_form.h"
#include "src/train/cuda/kernels/norm_grid.h"

namespace recpack::train {
namespace {

// Sums of (x - shift) and of its squares.
template <typename T, int kCount>
struct Moments {
  const T* x;
  const float* shift;
  struct Constants {
    float shift[kCount];
  };
  template <typename ChannelOf>
  __device__ Constants Start(const ChannelOf& channel) const {
    Constants c;
    for (int j = 0; j < kCount; ++j) c.shift[j] = shift ? shift[channel(j)] : 0;
    return c;
  }
  __device__ void Add(const Constants& c, size_t at, float (&sums)[kCount],
                      float (&squares)[kCount]) const {
    float value[kCount];
    Load(x + at, value);
    for (int j = 0; j < kCount; ++j) {
      const float d = value[j] - c.shift[j];
      sums[j] += d;
      squares[j] += d * d;
    }
  }
};

// Sums of g and of g * (x - mean).
template <typename T, int kCount, NormMask kMask>
struct GradientMoments {
  const T *dy, *dy_more, *x, *y;
  const float *factor, *term, *mean;
  T* g;
  struct Constants {
    float factor[kCount], term[kCount], mean[kCount];
  };
  template <typename ChannelOf>
  __device__ Constants Start(const ChannelOf& channel) const {
    Constants c;
    for (int j = 0; j < kCount; ++j) {
      c.factor[j] = kMask == NormMask::kFromX ? factor[channel(j)] : 0;
      c.term[j] = kMask == NormMask::kFromX ? term[channel(j)] : 0;
      c.mean[j] = mean[channel(j)];
    }
    return c;
  }
  __device__ void Add(const Constants& c, size_t at, float (&sums)[kCount],
                      float (&products)[kCount]) const {
    float gradient[kCount], value[kCount];
    Load(dy + at, gradient);
    Load(x + at, value);
    if (dy_more) {
      float more[kCount];
      Load(dy_more + at, more);
      for (int j = 0; j < kCount; ++j) gradient[j] += more[j];
    }
    if constexpr (kMask == NormMask::kFromX) {
      for (int j = 0; j < kCount; ++j) {
        if (!(value[j] * c.factor[j] + c.term[j] > 0)) gradient[j] = 0;
      }
    } else if constexpr (kMask == NormMask::kFromY) {
      float result[kCount];
      Load(y + at, result);
      for (int j = 0; j < kCount; ++j) {
        if (!(result[j] > 0)) gradient[j] = 0;
      }
    }
    if (g) Store(gradient, g + at);
    for (int j = 0; j < kCount; ++j) {
      sums[j] += gradient[j];
      products[j] += gradient[j] * (value[j] - c.mean[j]);
    }
  }
};

// Reduces sums[v][thread] over threads that are `width` apart, into the threads below `width`.
template <int kValues>
__device__ void ReduceBlock(float (&sums)[kValues][kThreads], uint32_t thread, uint32_t width) {
  for (uint32_t half = kThreads / 2; half >= width; half /= 2) {
    __syncthreads();
    if (thread >= half) continue;
    for (int v = 0; v < kValues; ++v) sums[v][thread] += sums[v][thread + half];
  }
  __syncthreads();
}

template <int kCount, typename Sum>
__global__ void SumNhwc(const SumGrid grid, const Sum sum, float* partial) {
  __shared__ float shared[2 * kCount][kThreads];
  const uint32_t lane = threadIdx.x % grid.lanes;
  const uint32_t channel = (blockIdx.x * grid.lanes + lane) * kCount;
  float first[kCount] = {}, second[kCount] = {};
  if (channel < grid.channels) {
    const auto constants = sum.Start([=](int j) { return channel + static_cast<uint32_t>(j); });
    const uint32_t begin = blockIdx.y * grid.of_slice;
    const uint32_t end = min(begin + grid.of_slice, grid.things);
    for (uint32_t row = begin + threadIdx.x / grid.lanes; row < end; row += kThreads / grid.lanes) {
      sum.Add(constants, static_cast<size_t>(row) * grid.channels + channel, first, second);
    }
  }
  for (int j = 0; j < kCount; ++j) {
    shared[j][threadIdx.x] = first[j];
    shared[kCount + j][threadIdx.x] = second[j];
  }
  ReduceBlock(shared, threadIdx.x, grid.lanes);
  if (threadIdx.x >= grid.lanes || channel >= grid.channels) return;
  float* to = partial + static_cast<size_t>(blockIdx.y) * 2 * grid.channels + channel;
  for (int j = 0; j < kCount; ++j) {
    to[j] = shared[j][threadIdx.x];
    to[grid.channels + j] = shared[kCount + j][threadIdx.x];
  }
}

template <int kCount, typename Sum>
__global__ void SumNchw(const SumGrid grid, const FastDivide by_plane, const Sum sum,
                        float* partial) {
  __shared__ float shared[2][kThreads];
  const uint32_t channel = blockIdx.x, groups = grid.plane / kCount;
  const uint32_t begin = blockIdx.y * grid.of_slice;
  const uint32_t end = min(begin + grid.of_slice, grid.things);
  const auto constants = sum.Start([=](int) { return channel; });
  float first[kCount] = {}, second[kCount] = {};
  for (uint32_t k = threadIdx.x; k < (end - begin) * groups; k += kThreads) {
    const uint32_t picture = by_plane(k);
    const uint32_t pixel = (k - picture * groups) * kCount;
    const size_t plane = static_cast<size_t>(begin + picture) * grid.channels + channel;
    sum.Add(constants, plane * grid.plane + pixel, first, second);
  }
  for (int j = 1; j < kCount; ++j) {
    first[0] += first[j];
    second[0] += second[j];
  }
  shared[0][threadIdx.x] = first[0];
  shared[1][threadIdx.x] = second[0];
  ReduceBlock(shared, threadIdx.x, 1);
  if (threadIdx.x != 0) return;
  float* to = partial + static_cast<size_t>(blockIdx.y) * 2 * grid.channels + channel;
  to[0] = shared[0][0];
  to[grid.channels] = shared[1][0];
}

template <int kCount, typename Sum>
NormSlices StartSum(const char* what, const ByChannel& shape, const Sum& sum, float* partial,
                    cudaStream_t stream) {
  const SumGrid grid = MakeGrid(shape, kCount);
  const dim3 blocks(grid.columns, grid.slices);
  if (shape.layout == ImageLayout::kNhwc) {
    Launch(what, SumNhwc<kCount, Sum>, blocks, dim3(kThreads), stream, grid, sum, partial);
  } else {
    Launch(what, SumNchw<kCount, Sum>, blocks, dim3(kThreads), stream, grid,
           FastDivide(grid.plane / kCount), sum, partial);
  }
  return {partial, grid.slices, grid.channels};
}

}  // namespace

size_t NormPartials(const ByChannel& shape) {
  size_t slices = 1;
  for (const int vector : {1, kVector<float>, kVector<__nv_bfloat16>}) {
    if (!InVectors(shape, vector)) continue;
    slices = std::max<size_t>(slices, MakeGrid(shape, static_cast<uint32_t>(vector)).slices);
  }
  return slices * 2 * static_cast<size_t>(shape.channels);
}

NormSlices LaunchNormSums(const ByChannel& shape, const void* x, const float* shift, float* partial,
                          CUstream_st* stream) {
  ElementCount(shape);
  NormSlices slices;
  const auto start = [&](auto element, auto count) {
    using Sum = Moments<decltype(element), count()>;
    slices =
        StartSum<count()>("batch normalisation's sums", shape,
                          Sum{static_cast<const decltype(element)*>(x), shift}, partial, stream);
  };
  InForm(shape, start, static_cast<const uint8_t*>(x));
  return slices;
}

NormSlices LaunchNormGradientSums(const ByChannel& shape, const NormGradientSumsArrays& a,
                                  NormMask mask, float* partial, CUstream_st* stream) {
  ElementCount(shape);
  NormSlices slices;
  const auto start = [&](auto element, auto count) {
    using T = decltype(element);
    const auto of = [](const void* array) { return static_cast<const T*>(array); };
    const auto with = [&](auto constant) {
      using Sum = GradientMoments<T, count(), constant()>;
      slices = StartSum<count()>("the sums of batch normalisation's gradient", shape,
                                 Sum{of(a.dy), of(a.dy_more), of(a.x), of(a.y), a.factor, a.term,
                                     a.mean, static_cast<T*>(a.g)},
                                 partial, stream);
    };
    switch (mask) {
      case NormMask::kAll:
        return with(std::integral_constant<NormMask, NormMask::kAll>());
      case NormMask::kFromX:
        return with(std::integral_constant<NormMask, NormMask::kFromX>());
      case NormMask::kFromY:
        return with(std::integral_constant<NormMask, NormMask::kFromY>());
    }
  };
  const auto at = [](const void* array) { return static_cast<const uint8_t*>(array); };
  InForm(shape, start, at(a.dy), at(a.dy_more), at(a.x), at(a.y), at(a.g));
  return slices;
}

}  // namespace recpack::train

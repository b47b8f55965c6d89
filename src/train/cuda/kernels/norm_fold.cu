#include "kernels/norm_fold.h"
#include "src/train/cuda/kernels/kernels.h"
#include "src/train/cuda/kernels/launch.h"

namespace recpack::train {
namespace {

constexpr uint32_t kColumns = 32;  // channels per block
constexpr uint32_t kRows = kThreads / kColumns;

struct Totals {
  float *first, *second;
  __device__ void operator()(uint32_t c, double sum, double other) const {
    if (first) first[c] = static_cast<float>(sum);
    if (second) second[c] = static_cast<float>(other);
  }
};

__device__ void Fold(const BatchNormVariables& variables, const NormFolded& to, uint32_t c,
                     float mean, float inverse_std) {
  const NormLine line = FoldNorm(variables.scale[c], variables.shift[c], mean, inverse_std);
  to.mean[c] = mean;
  to.inverse_std[c] = inverse_std;
  to.factor[c] = line.factor;
  to.term[c] = line.term;
}

struct Statistics {
  double count;
  const float* shift;
  float epsilon, momentum;
  BatchNormVariables variables;
  NormFolded to;
  __device__ void operator()(uint32_t c, double sum, double squares) const {
    const NormStatistics batch = ComputeNormStatistics(sum, squares, count, shift[c], epsilon);
    MoveRunning(batch, momentum, &variables.running_mean[c], &variables.running_variance[c]);
    Fold(variables, to, c, batch.mean, batch.inverse_std);
  }
};

struct Gradients {
  double count;
  const float* scale;
  NormFolded folded;
  NormGradients to;
  __device__ void operator()(uint32_t c, double sum, double product) const {
    const float inverse_std = folded.inverse_std[c];
    if (to.d_shift) to.d_shift[c] = static_cast<float>(sum);
    if (to.d_scale) to.d_scale[c] = static_cast<float>(product * inverse_std);
    if (!to.of_g) return;
    const NormPlane plane =
        FoldNormGradient(sum, product, count, scale[c], folded.mean[c], inverse_std);
    to.of_g[c] = plane.of_g;
    to.of_x[c] = plane.of_x;
    to.constant[c] = plane.constant;
  }
};

template <typename Finish>
__global__ void ReduceSlices(const NormSlices sums, const Finish finish) {
  __shared__ double shared[2][kRows][kColumns];
  const uint32_t column = threadIdx.x % kColumns, row = threadIdx.x / kColumns;
  const uint32_t channel = blockIdx.x * kColumns + column;
  double first = 0, second = 0;
  if (channel < sums.channels) {
    for (uint32_t slice = row; slice < sums.slices; slice += kRows) {
      const float* from = sums.partial + static_cast<size_t>(slice) * 2 * sums.channels + channel;
      first += from[0];
      second += from[sums.channels];
    }
  }
  shared[0][row][column] = first;
  shared[1][row][column] = second;
  __syncthreads();
  if (row != 0 || channel >= sums.channels) return;
  for (uint32_t other = 1; other < kRows; ++other) {
    first += shared[0][other][column];
    second += shared[1][other][column];
  }
  finish(channel, first, second);
}

template <typename Finish>
void Reduce(const char* what, const NormSlices& sums, const Finish& finish, cudaStream_t stream) {
  if (sums.channels == 0) return;
  Launch(what, ReduceSlices<Finish>, dim3((sums.channels + kColumns - 1) / kColumns),
         dim3(kThreads), stream, sums, finish);
}

__global__ void FoldRunning(uint32_t channels, float epsilon, const BatchNormVariables variables,
                            const NormFolded to) {
  const uint32_t c = blockIdx.x * kThreads + threadIdx.x;
  if (c >= channels) return;
  Fold(variables, to, c, variables.running_mean[c],
       RunningInverseStd(variables.running_variance[c], epsilon));
}

template <typename T>
__global__ void FirstValues(uint32_t channels, uint32_t step, const T* x, float* shift) {
  const uint32_t c = blockIdx.x * kThreads + threadIdx.x;
  if (c < channels) shift[c] = ToFloat(x[static_cast<size_t>(c) * step]);
}

dim3 BlocksFor(uint32_t channels) { return dim3((channels + kThreads - 1) / kThreads); }

}  // namespace

void LaunchNormFirst(const ByChannel& shape, const void* x, float* shift, CUstream_st* stream) {
  const uint32_t channels = Count32(shape.channels);
  if (channels == 0) return;
  const uint32_t step = shape.layout == ImageLayout::kNhwc ? 1 : Count32(shape.plane);
  AsElement(shape.type, [&](auto element) {
    using T = decltype(element);
    Launch("a channel's first value", FirstValues<T>, BlocksFor(channels), dim3(kThreads), stream,
           channels, step, static_cast<const T*>(x), shift);
  });
}

void LaunchNormTotals(const NormSlices& sums, float* first, float* second, CUstream_st* stream) {
  Reduce("sums by channel", sums, Totals{first, second}, stream);
}

void LaunchNormStatistics(const NormSlices& sums, double count, const float* shift, float epsilon,
                          float momentum, const BatchNormVariables& variables, const NormFolded& to,
                          CUstream_st* stream) {
  Reduce("batch normalisation's statistics", sums,
         Statistics{count, shift, epsilon, momentum, variables, to}, stream);
}

void LaunchNormRunning(uint32_t channels, float epsilon, const BatchNormVariables& variables,
                       const NormFolded& to, CUstream_st* stream) {
  if (channels == 0) return;
  Launch("batch normalisation's running statistics", FoldRunning, BlocksFor(channels),
         dim3(kThreads), stream, channels, epsilon, variables, to);
}

void LaunchNormGradients(const NormSlices& sums, double count, const float* scale,
                         const NormFolded& folded, const NormGradients& to, CUstream_st* stream) {
  Reduce("batch normalisation's gradients", sums, Gradients{count, scale, folded, to}, stream);
}

}  // namespace recpack::train

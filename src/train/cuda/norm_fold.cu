#include "src/train/cuda/kernels.h"
#include "src/train/cuda/launch.h"

namespace recpack {
namespace {

constexpr uint32_t kColumns = 32;  // channels of a block
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
  const float factor = variables.scale[c] * inverse_std;
  to.mean[c] = mean;
  to.inverse_std[c] = inverse_std;
  to.factor[c] = factor;
  to.term[c] = variables.shift[c] - mean * factor;
}

struct Statistics {
  double count;
  float epsilon, momentum;
  BatchNormVariables variables;
  NormFolded to;
  __device__ void operator()(uint32_t c, double sum, double squares) const {
    const double first = sum / count;
    const double spread = squares / count - first * first;
    const double variance = spread < 0 ? 0 : spread;  // NaN stays NaN
    const auto mean = static_cast<float>(variables.running_mean[c] + first);
    const double unbiased = count > 1 ? variance * count / (count - 1) : variance;
    const float keep = 1 - momentum;
    variables.running_mean[c] = keep * variables.running_mean[c] + momentum * mean;
    variables.running_variance[c] =
        keep * variables.running_variance[c] + momentum * static_cast<float>(unbiased);
    Fold(variables, to, c, mean, static_cast<float>(1 / sqrt(variance + epsilon)));
  }
};

// dx = scale / std * (g - sum(g) / n - xhat * sum(g * xhat) / n)
struct Gradients {
  double count;
  const float* scale;
  NormFolded folded;
  NormGradients to;
  __device__ void operator()(uint32_t c, double sum, double raw) const {
    const double inverse_std = folded.inverse_std[c];
    const double product = raw * inverse_std;
    if (to.d_shift) to.d_shift[c] = static_cast<float>(sum);
    if (to.d_scale) to.d_scale[c] = static_cast<float>(product);
    if (!to.of_g) return;
    const double of_g = scale[c] * inverse_std;
    const double of_x = -of_g * product * inverse_std / count;
    to.of_g[c] = static_cast<float>(of_g);
    to.of_x[c] = static_cast<float>(of_x);
    to.constant[c] = static_cast<float>(-of_g * sum / count - of_x * folded.mean[c]);
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
       1 / sqrtf(variables.running_variance[c] + epsilon));
}

}  // namespace

void LaunchNormTotals(const NormSlices& sums, float* first, float* second, CUstream_st* stream) {
  Reduce("sums by channel", sums, Totals{first, second}, stream);
}

void LaunchNormStatistics(const NormSlices& sums, double count, float epsilon, float momentum,
                          const BatchNormVariables& variables, const NormFolded& to,
                          CUstream_st* stream) {
  Reduce("batch normalisation's statistics", sums,
         Statistics{count, epsilon, momentum, variables, to}, stream);
}

void LaunchNormRunning(uint32_t channels, float epsilon, const BatchNormVariables& variables,
                       const NormFolded& to, CUstream_st* stream) {
  if (channels == 0) return;
  Launch("batch normalisation's running statistics", FoldRunning,
         dim3((channels + kThreads - 1) / kThreads), dim3(kThreads), stream, channels, epsilon,
         variables, to);
}

void LaunchNormGradients(const NormSlices& sums, double count, const float* scale,
                         const NormFolded& folded, const NormGradients& to, CUstream_st* stream) {
  Reduce("batch normalisation's gradients", sums, Gradients{count, scale, folded, to}, stream);
}

}  // namespace recpack

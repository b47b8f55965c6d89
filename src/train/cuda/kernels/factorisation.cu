#include "src/train/cuda/kernels/kernels.h"
#include "src/train/cuda/kernels/launch.h"

namespace recpack::train {
namespace {

constexpr uint32_t kOfRow = 64;  // threads per block

template <typename T>
struct Inputs {
  const T *first, *second;
  uint32_t first_width, second_width;
  __device__ float At(uint32_t sample, uint32_t i) const {
    return ToFloat(i < first_width
                       ? first[static_cast<size_t>(sample) * first_width + i]
                       : second[static_cast<size_t>(sample) * second_width + i - first_width]);
  }
};

template <typename T>
Inputs<T> MakeInputs(const FactorisationSpec& spec, const void* first, const void* second) {
  return {static_cast<const T*>(first), static_cast<const T*>(second), Count32(spec.first),
          Count32(spec.second)};
}

// Sums over the threads of the block, in a fixed order; every thread gets the result.
template <typename V>
__device__ V SumOfBlock(V mine) {
  __shared__ V sums[kOfRow];
  __syncthreads();  // the previous sum has been read
  sums[threadIdx.x] = mine;
  for (uint32_t half = kOfRow / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  __syncthreads();
  return sums[0];
}

// One block per sample.
template <typename T>
__global__ void Predict(Inputs<T> x, uint32_t factors, FactorisationArrays<const float> variables,
                        float* factor_sums, float* y) {
  const uint32_t sample = blockIdx.x, in = x.first_width + x.second_width;
  double linear = 0, squares = 0;
  for (uint32_t i = threadIdx.x; i < in; i += kOfRow) {
    const float value = x.At(sample, i);
    linear += static_cast<double>(variables.weights[i]) * value;
    for (uint32_t f = 0; f < factors; ++f) {
      const float part = variables.factors[static_cast<size_t>(i) * factors + f] * value;
      squares += static_cast<double>(part) * part;
    }
  }
  double result = SumOfBlock(linear - squares / 2);
  for (uint32_t f = 0; f < factors; ++f) {
    float mine = 0;
    for (uint32_t i = threadIdx.x; i < in; i += kOfRow) {
      mine += variables.factors[static_cast<size_t>(i) * factors + f] * x.At(sample, i);
    }
    const float sum = SumOfBlock(mine);
    if (threadIdx.x == 0) factor_sums[static_cast<size_t>(sample) * factors + f] = sum;
    result += static_cast<double>(sum) * sum / 2;
  }
  if (threadIdx.x == 0) y[sample] = static_cast<float>(result + *variables.bias);
}

// One block per sample, with threads over its inputs.
template <typename T>
__global__ void InputGradients(Inputs<T> x, uint32_t factors,
                               FactorisationArrays<const float> variables, const float* factor_sums,
                               const float* dy, T* d_first, T* d_second) {
  const uint32_t sample = blockIdx.x, in = x.first_width + x.second_width;
  const float* sums = factor_sums + static_cast<size_t>(sample) * factors;
  for (uint32_t i = threadIdx.x; i < in; i += kOfRow) {
    const float value = x.At(sample, i);
    const float* row = variables.factors + static_cast<size_t>(i) * factors;
    float slope = variables.weights[i];
    for (uint32_t f = 0; f < factors; ++f) slope += row[f] * (sums[f] - row[f] * value);
    const T gradient = FromFloat<T>(dy[sample] * slope);
    if (i < x.first_width) {
      d_first[static_cast<size_t>(sample) * x.first_width + i] = gradient;
    } else {
      d_second[static_cast<size_t>(sample) * x.second_width + i - x.first_width] = gradient;
    }
  }
}

// One block per input, and a last one for the bias; with threads over samples.
template <typename T>
__global__ void VariableGradients(Inputs<T> x, uint32_t batch, uint32_t factors,
                                  FactorisationArrays<const float> variables,
                                  const float* factor_sums, const float* dy,
                                  FactorisationArrays<float> gradients) {
  const uint32_t i = blockIdx.x, in = x.first_width + x.second_width;
  float mine = 0;
  for (uint32_t sample = threadIdx.x; sample < batch; sample += kOfRow) {
    mine += i < in ? dy[sample] * x.At(sample, i) : dy[sample];
  }
  const float whole = SumOfBlock(mine);
  if (threadIdx.x == 0) *(i < in ? gradients.weights + i : gradients.bias) = whole;
  if (i == in) return;
  for (uint32_t f = 0; f < factors; ++f) {
    const size_t at = static_cast<size_t>(i) * factors + f;
    mine = 0;
    for (uint32_t sample = threadIdx.x; sample < batch; sample += kOfRow) {
      const float value = x.At(sample, i);
      mine +=
          dy[sample] * value *
          (factor_sums[static_cast<size_t>(sample) * factors + f] - variables.factors[at] * value);
    }
    const float sum = SumOfBlock(mine);
    if (threadIdx.x == 0) gradients.factors[at] = sum;
  }
}

}  // namespace

void LaunchFactorisation(const FactorisationSpec& spec,
                         const FactorisationArrays<const float>& variables, const void* first,
                         const void* second, float* factor_sums, float* y, CUstream_st* stream) {
  const uint32_t batch = Count32(spec.batch);
  if (batch == 0) return;
  AsElement(spec.type, [&](auto element) {
    using T = decltype(element);
    Launch("a factorisation machine", Predict<T>, dim3(batch), dim3(kOfRow), stream,
           MakeInputs<T>(spec, first, second), Count32(spec.factors), variables, factor_sums, y);
  });
}

void LaunchFactorisationBackward(const FactorisationSpec& spec,
                                 const FactorisationArrays<const float>& variables,
                                 const void* first, const void* second, const float* factor_sums,
                                 const float* dy, void* d_first, void* d_second,
                                 const FactorisationArrays<float>& gradients, CUstream_st* stream) {
  const uint32_t batch = Count32(spec.batch), factors = Count32(spec.factors);
  AsElement(spec.type, [&](auto element) {
    using T = decltype(element);
    const Inputs<T> x = MakeInputs<T>(spec, first, second);
    if (batch > 0) {
      Launch("the gradient of a factorisation machine's inputs", InputGradients<T>, dim3(batch),
             dim3(kOfRow), stream, x, factors, variables, factor_sums, dy, static_cast<T*>(d_first),
             static_cast<T*>(d_second));
    }
    Launch("the gradient of a factorisation machine", VariableGradients<T>,
           dim3(Count32(spec.in()) + 1), dim3(kOfRow), stream, x, batch, factors, variables,
           factor_sums, dy, gradients);
  });
}

}  // namespace recpack::train

#include "src/train/cpu/fold.h"

#include <algorithm>
#include <cmath>

#include "recpack/base/error.h"

namespace recpack::train {
namespace {

constexpr float kLargest = 127;

FoldedWeights Copied(const float* weights, const float* bias, int64_t channels, int64_t size) {
  FoldedWeights folded;
  folded.weights.assign(weights, weights + channels * size);
  if (bias) {
    folded.bias.assign(bias, bias + channels);
  } else {
    folded.bias.resize(static_cast<size_t>(channels));
  }
  return folded;
}

}  // namespace

FoldedWeights Fold(const TracedConvolution& convolution, const TracedNorm* norm) {
  const ConvolutionSpec& spec = convolution.spec;
  const int64_t size = spec.in_channels * spec.kernel_height * spec.kernel_width;
  FoldedWeights folded = Copied(convolution.weights, convolution.bias, spec.out_channels, size);
  if (!norm) return folded;
  const BatchNormVariables& of = norm->variables;
  for (int64_t c = 0; c < spec.out_channels; ++c) {
    const float factor = of.scale[c] / std::sqrt(of.running_variance[c] + norm->spec.epsilon);
    for (int64_t i = 0; i < size; ++i) folded.weights[static_cast<size_t>(c * size + i)] *= factor;
    float& bias = folded.bias[static_cast<size_t>(c)];
    bias = (bias - of.running_mean[c]) * factor + of.shift[c];
  }
  return folded;
}

FoldedWeights Fold(const TracedDense& dense) {
  return Copied(dense.weights, dense.bias, dense.spec.out, dense.spec.in);
}

IntegerWeights ToIntegers(const FoldedWeights& folded) {
  const size_t channels = folded.bias.size();
  const size_t size = folded.weights.size() / channels;
  IntegerWeights result{std::vector<int8_t>(folded.weights.size()), std::vector<float>(channels)};
  for (size_t c = 0; c < channels; ++c) {
    const float* weights = folded.weights.data() + c * size;
    float largest = 0, sum = folded.bias[c];
    for (size_t i = 0; i < size; ++i) {
      largest = std::max(largest, std::fabs(weights[i]));
      sum += weights[i];
    }
    if (!std::isfinite(sum)) {
      throw Error(ErrorKind::kInvalidArgument, "a layer's weights are NaN or infinite", {},
                  "take an earlier checkpoint");
    }
    const float scale = largest > 0 ? largest / kLargest : 1;
    result.scales[c] = scale;
    for (size_t i = 0; i < size; ++i) {
      result.integers[c * size + i] = static_cast<int8_t>(std::lround(weights[i] / scale));
    }
  }
  return result;
}

}  // namespace recpack::train

// Weights of layers, with what follows put into them, as 8-bit integers.
#pragma once

#include <cstdint>
#include <vector>

#include "src/train/ops/trace.h"

namespace recpack::train {

// By output channel, each of as many values.
struct FoldedWeights {
  std::vector<float> weights;
  std::vector<float> bias;
};

// norm(convolution(x)) as one convolution with a bias, by the running statistics. `norm`: null
// where there is none.
FoldedWeights Fold(const TracedConvolution& convolution, const TracedNorm* norm);
FoldedWeights Fold(const TracedDense& dense);

// weights[channel][i] is about scales[channel] * integers[channel][i].
struct IntegerWeights {
  std::vector<int8_t> integers;
  std::vector<float> scales;
};
// Throws Error (kInvalidArgument) for numbers that are not finite.
IntegerWeights ToIntegers(const FoldedWeights& folded);

}  // namespace recpack::train

// Folds batch normalisation into layer weights, and quantises weights to 8-bit integers.
#pragma once

#include <cstdint>
#include <vector>

#include "src/train/trace/trace.h"

namespace recpack::train {

// Per output channel; all channels have equally many weights.
struct FoldedWeights {
  std::vector<float> weights;
  std::vector<float> bias;
};

// norm(convolution(x)) as one convolution with a bias, using the running statistics. `norm`: may be
// null.
FoldedWeights Fold(const TracedConvolution& convolution, const TracedNorm* norm);
FoldedWeights Fold(const TracedDense& dense);

// weights[channel][i] is approximately scales[channel] * integers[channel][i].
struct IntegerWeights {
  std::vector<int8_t> integers;
  std::vector<float> scales;
};
// Throws Error (kInvalidArgument) for NaN and infinity.
IntegerWeights ToIntegers(const FoldedWeights& folded);

}  // namespace recpack::train

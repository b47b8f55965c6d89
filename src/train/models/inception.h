// Inception module of GoogLeNet: branches over the same input, whose outputs are concatenated.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "src/train/layers/stage.h"

namespace recpack::train {

// Added to the variance, as torchvision's GoogLeNet does.
inline constexpr float kInceptionEpsilon = 1e-3F;

// Output channels of the convolutions.
struct InceptionShape {
  int64_t direct = 0;               // 1x1
  int64_t reduced = 0, wide = 0;    // 1x1, and 3x3 behind it
  int64_t reduced2 = 0, wide2 = 0;  // the same again
  int64_t pooled = 0;               // 1x1 behind 3x3 max pooling with a stride of 1
};

// Convolution without bias, batch normalisation, ReLU: `NAME.conv` and `NAME.bn`.
std::unique_ptr<Stage> MakeNormedConvolution(const ModelContext& context, const std::string& name,
                                             const ConvolutionSpec& spec);

// Its branches, in the order of their channels: NAME.branch1, .branch2.0 and .branch2.1, .branch3.0
// and .branch3.1, .branch4.1. Each convolution is normalised.
std::unique_ptr<Stage> MakeInception(const ModelContext& context, const std::string& name,
                                     const Shape& in, const InceptionShape& shape);

}  // namespace recpack::train

// The gradient of a bias: the sum of dy over pixels.
#pragma once

#include "src/train/cpu/onednn.h"

namespace recpack::train {

// As a row of ones times dy, with sums of f32: oneDNN's convolutions take as long for it as for the
// gradient of their weights.
class BiasGradient {
 public:
  BiasGradient() = default;
  // dy: `pixels` rows of `channels` values.
  BiasGradient(const CpuContext& context, int64_t pixels, int64_t channels, ValueType type);

  void Run(const CpuContext& context, const void* dy, float* d_bias);

 private:
  dnnl::matmul product_;
  dnnl::memory ones_, dy_, sums_;
};

}  // namespace recpack::train

// Biases of convolutions and dense layers, one value per channel.
#pragma once

#include "src/train/cuda/context.h"
#include "src/train/cuda/kernels/kernels.h"

namespace recpack::train {

class CudaBias {
 public:
  // `shape`: of outputs and their gradients.
  CudaBias(CudaContext& context, const ByChannel& shape);

  // y += bias.
  void Add(const float* bias, void* y) const;
  // d_bias = the sum of dy.
  void Gradient(const void* dy, float* d_bias) const;

 private:
  const CudaContext& context_;
  const ByChannel shape_;
  CudaArray ones_;
};

}  // namespace recpack::train

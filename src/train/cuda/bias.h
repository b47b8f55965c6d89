// Biases of convolutions and dense layers: they go by channel, as batch normalisation does.
#pragma once

#include "src/train/cuda/context.h"
#include "src/train/cuda/kernels.h"

namespace recpack::train {

class CudaBias {
 public:
  // Of results and gradients of this shape.
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

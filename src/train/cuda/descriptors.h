// What cuDNN is told of tensors and convolutions.
#pragma once

#include "src/train/cuda/context.h"
#include "src/train/cuda/descriptor.h"
#include "src/train/ops/tensor.h"

namespace recpack::train {

using CudnnTensor = CudaDescriptor<cudnnTensorDescriptor_t, cudnnStatus_t>;
using CudnnFilter = CudaDescriptor<cudnnFilterDescriptor_t, cudnnStatus_t>;
using CudnnConvolution = CudaDescriptor<cudnnConvolutionDescriptor_t, cudnnStatus_t>;

// Throw Error: kDevice, and kUnsupported for other types than f32 and bf16.
CudnnTensor MakeCudnnTensor(const CudaContext& context, const Shape& shape, ValueType type,
                            ImageLayout layout);
// Weights whose layout goes with that of pictures.
CudnnFilter MakeCudnnFilter(const CudaContext& context, const Shape& shape, ValueType type,
                            ImageLayout layout);
// Sums are f32.
CudnnConvolution MakeCudnnConvolution(const CudaContext& context, const ConvolutionSpec& spec);

}  // namespace recpack::train

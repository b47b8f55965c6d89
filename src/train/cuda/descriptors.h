// Owning wrapper of descriptors of the CUDA libraries, and cuDNN descriptors of tensors, filters
// and convolutions.
#pragma once

#include <utility>

#include "src/train/cuda/context.h"
#include "src/train/ops/tensor.h"

namespace recpack::train {

// Owns a descriptor of a CUDA library. Move-only.
template <typename Handle, typename Status>
class CudaDescriptor {
 public:
  using Destroy = Status (*)(Handle);
  CudaDescriptor(Handle handle, Destroy destroy) : handle_(handle), destroy_(destroy) {}
  CudaDescriptor(CudaDescriptor&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), destroy_(other.destroy_) {}
  CudaDescriptor& operator=(CudaDescriptor&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~CudaDescriptor() {
    if (handle_) destroy_(handle_);
  }
  Handle get() const noexcept { return handle_; }

 private:
  Handle handle_;
  Destroy destroy_;
};

using CudnnTensor = CudaDescriptor<cudnnTensorDescriptor_t, cudnnStatus_t>;
using CudnnFilter = CudaDescriptor<cudnnFilterDescriptor_t, cudnnStatus_t>;
using CudnnConvolution = CudaDescriptor<cudnnConvolutionDescriptor_t, cudnnStatus_t>;

// Throw Error: kDevice, and kUnsupported for types other than f32 and bf16.
CudnnTensor MakeCudnnTensor(const CudaContext& context, const Shape& shape, ElementType type,
                            ImageLayout layout);
// Weights, in the layout that matches the images'.
CudnnFilter MakeCudnnFilter(const CudaContext& context, const Shape& shape, ElementType type,
                            ImageLayout layout);
// Accumulates in f32.
CudnnConvolution MakeCudnnConvolution(const CudaContext& context, const ConvolutionSpec& spec);

}  // namespace recpack::train

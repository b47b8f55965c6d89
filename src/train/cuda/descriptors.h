// Descriptors of cuDNN, by value.
#pragma once

#include <utility>

#include "recpack/train/tensor.h"
#include "src/train/cuda/context.h"

namespace recpack {

// Move-only.
template <typename Handle>
class CudnnDescriptor {
 public:
  using Destroy = cudnnStatus_t (*)(Handle);
  CudnnDescriptor(Handle handle, Destroy destroy) : handle_(handle), destroy_(destroy) {}
  CudnnDescriptor(CudnnDescriptor&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), destroy_(other.destroy_) {}
  CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~CudnnDescriptor() {
    if (handle_) destroy_(handle_);
  }
  Handle get() const noexcept { return handle_; }

 private:
  Handle handle_;
  Destroy destroy_;
};

using CudnnTensor = CudnnDescriptor<cudnnTensorDescriptor_t>;
using CudnnFilter = CudnnDescriptor<cudnnFilterDescriptor_t>;
using CudnnConvolution = CudnnDescriptor<cudnnConvolutionDescriptor_t>;

// Throw Error: kDevice, and kUnsupported for other types than f32 and bf16.
CudnnTensor MakeCudnnTensor(const CudaContext& context, const Shape& shape, ValueType type,
                            ImageLayout layout);
// Weights whose layout goes with that of pictures.
CudnnFilter MakeCudnnFilter(const CudaContext& context, const Shape& shape, ValueType type,
                            ImageLayout layout);
// Sums are f32.
CudnnConvolution MakeCudnnConvolution(const CudaContext& context, const ConvolutionSpec& spec);

}  // namespace recpack

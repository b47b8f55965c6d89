// Owning array in CUDA device memory.
#pragma once

#include <cstddef>
#include <utility>

#include "src/train/cuda/runtime/errors.h"

namespace recpack::train {

// Allocates on the current device, without zeroing. Move-only. Freeing waits for the device.
class CudaArray {
 public:
  CudaArray() = default;
  explicit CudaArray(size_t bytes) : data_(CudaAllocate(bytes)) {}
  CudaArray(CudaArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  CudaArray& operator=(CudaArray&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~CudaArray() { cudaFree(data_); }

  void* data() const noexcept { return data_; }
  template <typename T>
  T* As() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

}  // namespace recpack::train

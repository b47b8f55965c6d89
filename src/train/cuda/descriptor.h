// Descriptors of CUDA's libraries, by value.
#pragma once

#include <utility>

namespace recpack::train {

// Move-only.
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

}  // namespace recpack::train

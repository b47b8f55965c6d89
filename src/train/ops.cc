#include "recpack/train/ops.h"

#include <utility>

namespace recpack {

DeviceArray Ops::Allocate(size_t bytes) {
  DeviceArray array(this, AllocateBytes(bytes));
  Zero(array.data(), bytes);
  return array;
}

DeviceArray::DeviceArray(DeviceArray&& other) noexcept
    : ops_(other.ops_), data_(std::exchange(other.data_, nullptr)) {}

DeviceArray& DeviceArray::operator=(DeviceArray&& other) noexcept {
  std::swap(ops_, other.ops_);
  std::swap(data_, other.data_);
  return *this;
}

DeviceArray::~DeviceArray() {
  if (data_) ops_->FreeBytes(data_);
}

}  // namespace recpack

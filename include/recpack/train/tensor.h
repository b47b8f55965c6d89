// Arrays of numbers in a device's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "recpack/kernels/finish.h"
#include "recpack/pipeline/array_spec.h"

namespace recpack {

// Sizes from the outermost dimension on. Pictures are always (batch, channels, height, width),
// however they lie in memory: ImageLayout says that.
using Shape = std::vector<int64_t>;

// Number of elements: the product; 1 of an empty shape; INT64_MAX where it is too large to count,
// so that an allocation fails.
int64_t Elements(const Shape& shape) noexcept;

// "128x16x32x32".
std::string ShapeText(const Shape& shape);

// An array: where it lies and what it is. Does not own its memory.
struct Tensor {
  void* data = nullptr;  // in the memory of one device
  ValueType type = ValueType::kF32;
  Shape shape = {};
  ImageLayout layout = ImageLayout::kNhwc;  // of four dimensions; others are dense in their order

  template <typename T>
  T* As() const {
    return static_cast<T*>(data);
  }
  int64_t elements() const noexcept { return Elements(shape); }
  size_t bytes() const noexcept { return static_cast<size_t>(elements()) * ValueBytes(type); }
};

}  // namespace recpack

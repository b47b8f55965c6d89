// Tensors: shape, type and layout of arrays in device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "recpack/kernels/finish.h"
#include "recpack/loader/array_spec.h"

namespace recpack::train {

// Sizes, outermost dimension first. Images are always (batch, channels, height, width); ImageLayout
// gives their order in memory.
using Shape = std::vector<int64_t>;

// Number of elements: the product of the sizes; 1 for an empty shape; INT64_MAX if it is too large
// to count, so that an allocation fails.
int64_t Elements(const Shape& shape) noexcept;

// "128x16x32x32".
std::string ShapeText(const Shape& shape);

// Address and description of an array. Does not own its memory.
struct Tensor {
  void* data = nullptr;  // in the memory of one device
  ElementType type = ElementType::kF32;
  Shape shape = {};
  ImageLayout layout = ImageLayout::kNhwc;  // for four dimensions; others are row-major

  template <typename T>
  T* As() const {
    return static_cast<T*>(data);
  }
  int64_t elements() const noexcept { return Elements(shape); }
  size_t bytes() const noexcept { return static_cast<size_t>(elements()) * ElementBytes(type); }
};

}  // namespace recpack::train

#include "src/train/ops/tensor.h"

namespace recpack::train {

int64_t Elements(const Shape& shape) noexcept {
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count)) return INT64_MAX;
  }
  return count;
}

std::string ShapeText(const Shape& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

}  // namespace recpack::train

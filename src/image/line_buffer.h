// Buffer aligned to cache lines, for SIMD loads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace recpack {

constexpr size_t kCacheLine = 64;

// Array of T that starts at a cache line. Contents are lost when it grows.
template <typename T>
class LineBuffer {
 public:
  // Reserves memory for `count` elements; never shrinks.
  void Reserve(size_t count) {
    const size_t lines = (count * sizeof(T) + kCacheLine - 1) / kCacheLine;
    if (lines > lines_.size()) lines_ = std::vector<Line>(lines);
  }

  T* data() noexcept { return reinterpret_cast<T*>(lines_.data()); }
  const T* data() const noexcept { return reinterpret_cast<const T*>(lines_.data()); }

 private:
  struct alignas(kCacheLine) Line {
    uint8_t bytes[kCacheLine];
  };

  std::vector<Line> lines_;
};

}  // namespace recpack

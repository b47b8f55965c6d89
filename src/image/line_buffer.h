// Memory for SIMD loads that cross no cache line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace recpack {

constexpr size_t kCacheLine = 64;

// `T`s from the start of a cache line on. Contents are lost where it grows.
template <typename T>
class LineBuffer {
 public:
  // Makes room for `count`; memory is kept when it gets smaller.
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

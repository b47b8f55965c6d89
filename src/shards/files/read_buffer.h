// Reusable buffer for the bytes of one item.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

namespace recpack {

class ReadBuffer {
 public:
  // Returns `size` bytes, uninitialised. Contents are lost if the buffer grows.
  std::span<uint8_t> Room(size_t size) {
    if (size > capacity_) {
      capacity_ = std::max(size, capacity_ + capacity_ / 2);
      bytes_ = std::make_unique_for_overwrite<uint8_t[]>(capacity_);
    }
    return {bytes_.get(), size};
  }

 private:
  std::unique_ptr<uint8_t[]> bytes_;
  size_t capacity_ = 0;
};

}  // namespace recpack

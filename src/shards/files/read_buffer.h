// Room for one item's bytes, kept from item to item.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

namespace recpack {

class ReadBuffer {
 public:
  // Room for `size` bytes, not initialised; what was there before is gone if it had to grow.
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

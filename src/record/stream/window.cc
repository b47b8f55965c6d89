#include "src/record/stream/window.h"

#include <cstring>

namespace recpack {

bool Window::Fill(size_t size) {
  std::memmove(buffer_.get(), data(), end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  while (end_ < size) {
    if (end_ == capacity_) Grow(std::min(size, capacity_ * 2));
    const size_t got = source_->Read({buffer_.get() + end_, capacity_ - end_});
    if (got == 0) return false;
    end_ += got;
  }
  return true;
}

void Window::Grow(size_t capacity) {
  auto grown = std::make_unique_for_overwrite<uint8_t[]>(capacity);
  std::memcpy(grown.get(), buffer_.get(), end_);
  buffer_ = std::move(grown);
  capacity_ = capacity;
}

}  // namespace recpack

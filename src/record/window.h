// A moving, growing view of a ByteSource.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "recpack/base/bytes.h"
#include "src/record/byte_source.h"

namespace recpack {

// Bytes of the source from offset() on. Views last until the next Ensure(), Skip() or Restart().
// One thread at a time.
class Window {
 public:
  Window(std::unique_ptr<ByteSource> source, size_t buffer_bytes)
      : source_(std::move(source)), buffer_(std::max<size_t>(buffer_bytes, 4096)) {}

  // Offset of the first byte of bytes() in the uncompressed stream.
  uint64_t offset() const noexcept { return offset_; }

  ByteView bytes() const noexcept { return {buffer_.data() + begin_, end_ - begin_}; }

  const uint8_t* data() const noexcept { return buffer_.data() + begin_; }

  // Makes bytes() at least `size` long, and as long as the buffer allows; false where the source
  // ends before. The buffer grows as bytes arrive, never ahead of them by more than twofold.
  bool Ensure(size_t size) {
    if (end_ - begin_ >= size) return true;
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    while (end_ < size) {
      if (end_ == buffer_.size()) buffer_.resize(std::min(size, buffer_.size() * 2));
      const size_t got = source_->Read(std::span(buffer_).subspan(end_));
      if (got == 0) return false;
      end_ += got;
    }
    return true;
  }

  // Drops the first `size` bytes of bytes().
  void Skip(size_t size) noexcept {
    begin_ += size;
    offset_ += size;
  }

  // Goes on with another source whose first byte has this offset.
  void Restart(std::unique_ptr<ByteSource> source, uint64_t offset) {
    source_ = std::move(source);
    begin_ = end_ = 0;
    offset_ = offset;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  ByteBuffer buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t offset_ = 0;
};

}  // namespace recpack

// A moving, growing view of a ByteSource.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "recpack/base/bytes.h"
#include "src/record/compression/byte_source.h"

namespace recpack {

// Bytes of the source from offset() on. Views last until the next Ensure(), Skip() or Restart().
// One thread at a time.
class Window {
 public:
  Window(std::unique_ptr<ByteSource> source, size_t buffer_bytes, uint64_t offset = 0)
      : source_(std::move(source)),
        capacity_(std::max<size_t>(buffer_bytes, 4096)),
        buffer_(std::make_unique_for_overwrite<uint8_t[]>(capacity_)),
        offset_(offset) {}

  // Offset of the first byte of bytes() in the uncompressed stream.
  uint64_t offset() const noexcept { return offset_; }

  ByteView bytes() const noexcept { return {data(), end_ - begin_}; }

  const uint8_t* data() const noexcept { return buffer_.get() + begin_; }

  // Makes bytes() at least `size` long, and as long as the buffer allows; false where the source
  // ends before. The buffer grows as bytes arrive, never ahead of them by more than twofold.
  bool Ensure(size_t size) { return end_ - begin_ >= size || Fill(size); }

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
  bool Fill(size_t size);
  void Grow(size_t capacity);

  std::unique_ptr<ByteSource> source_;
  size_t capacity_;
  std::unique_ptr<uint8_t[]> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t offset_;
};

}  // namespace recpack

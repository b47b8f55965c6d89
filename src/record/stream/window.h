// Sliding, growing buffer over a ByteSource.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "recpack/base/bytes.h"
#include "src/record/compression/byte_source.h"

namespace recpack {

// Buffer for scanning a whole shard.
inline constexpr size_t kScanWindowBytes = size_t{1} << 20;

// Holds bytes of the source, starting at offset(). Views are valid until the next Ensure(), Skip()
// or Restart(). Not thread-safe.
class Window {
 public:
  Window(std::unique_ptr<ByteSource> source, size_t buffer_bytes, uint64_t offset = 0)
      : source_(std::move(source)),
        capacity_(std::max<size_t>(buffer_bytes, 4096)),
        buffer_(std::make_unique_for_overwrite<uint8_t[]>(capacity_)),
        offset_(offset) {}

  // Returns the offset of the first byte of bytes() in the uncompressed stream.
  uint64_t offset() const noexcept { return offset_; }

  ByteView bytes() const noexcept { return {data(), end_ - begin_}; }

  const uint8_t* data() const noexcept { return buffer_.get() + begin_; }

  // Fills bytes() to at least `size` bytes, and up to the buffer's capacity. Returns false if the
  // source ends before. The buffer grows as bytes arrive, to at most twice their number.
  bool Ensure(size_t size) { return end_ - begin_ >= size || Fill(size); }

  // Drops the first `size` bytes of bytes().
  void Skip(size_t size) noexcept {
    begin_ += size;
    offset_ += size;
  }

  // Switches to another source whose first byte has this offset.
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

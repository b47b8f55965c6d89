// Reads a file from start to end through one buffer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "recpack/base/file.h"

namespace recpack::train {

// Not thread-safe; the file must outlive it. Members throw what ReadableFile::ReadAt() throws.
class ByteStream {
 public:
  // `buffer`: its size, the most bytes that Peek() gives.
  ByteStream(const ReadableFile& file, size_t buffer) : file_(file), buffer_(buffer) {}

  // The next byte's place, from the start of the file.
  uint64_t offset() const noexcept { return read_ - (end_ - begin_); }
  size_t capacity() const noexcept { return buffer_.size(); }

  // The next bytes: `count`, which fit the buffer, or fewer at the end of the file. Valid until the
  // next call.
  std::string_view Peek(size_t count) {
    if (end_ - begin_ < count && !ended_) Fill();
    return {reinterpret_cast<const char*>(buffer_.data()) + begin_, std::min(count, end_ - begin_)};
  }
  // Takes bytes that the last Peek() gave.
  void Skip(size_t count) { begin_ += count; }

 private:
  void Fill() {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    const auto room = std::span(buffer_).subspan(end_);
    const size_t got = file_.ReadAt(read_, room);
    ended_ = got < room.size();
    end_ += got;
    read_ += got;
  }

  const ReadableFile& file_;
  std::vector<uint8_t> buffer_;
  size_t begin_ = 0, end_ = 0;
  uint64_t read_ = 0;
  bool ended_ = false;
};

}  // namespace recpack::train

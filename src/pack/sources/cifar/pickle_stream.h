// Reads the bytes of a pickle in order, from memory or from a file.
#pragma once

#include <deque>
#include <memory>

#include "recpack/base/error.h"
#include "src/pack/sources/cifar/pickle.h"

namespace recpack::pack {

// A range of the input; `data` is null if it was left in the file.
struct PickleExtent {
  uint64_t offset = 0;
  uint64_t size = 0;
  const uint8_t* data = nullptr;
};

class PickleStream {
 public:
  using Buffers = std::deque<std::unique_ptr<uint8_t[]>>;

  // `buffers` gets the pieces that are read and keeps them, since views into them are returned.
  // Their total is at most about twice the size of the input.
  PickleStream(const PickleInput& input, Buffers& buffers);

  // Offset of the next byte.
  uint64_t offset() const noexcept { return piece_offset_ + static_cast<uint64_t>(next_ - piece_); }
  uint64_t size() const noexcept { return size_; }

  // Returns the next `size` bytes as one piece.
  const uint8_t* Take(uint64_t size) {
    if (static_cast<uint64_t>(end_ - next_) < size) Refill(size);
    const uint8_t* from = next_;
    next_ += size;
    return from;
  }

  template <typename T>
  T TakeNumber() {
    return LoadLittleEndian<T>(Take(sizeof(T)));
  }

  // Returns the next `size` bytes, which may be left in the file.
  PickleExtent TakeExtent(uint64_t size);

  // Returns the bytes up to the next newline, and skips the newline.
  PickleExtent TakeLine();

  // Returns the bytes of an extent; reads them into `loaded` if they were left in the file.
  const uint8_t* Load(const PickleExtent& extent, std::unique_ptr<uint8_t[]>& loaded) const;

  [[noreturn]] void Corrupt(uint64_t at, const std::string& reason) const;
  [[noreturn]] void Unsupported(uint64_t at, const std::string& reason,
                                const std::string& advice) const;

 private:
  void Refill(uint64_t size);
  void CheckRoom(uint64_t size) const;
  std::unique_ptr<uint8_t[]> ReadPiece(uint64_t offset, uint64_t size) const;

  const PickleInput& input_;
  Buffers& buffers_;
  uint64_t size_;
  uint64_t piece_offset_ = 0;
  const uint8_t* piece_ = nullptr;
  const uint8_t* next_ = nullptr;
  const uint8_t* end_ = nullptr;
};

}  // namespace recpack::pack

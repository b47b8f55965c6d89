// The bytes of a pickle in order, from memory or from a file whose bulk is skipped.
#pragma once

#include <deque>
#include <memory>

#include "recpack/base/error.h"
#include "src/pack/sources/cifar/pickle.h"

namespace recpack::pack {

// A stretch of the input; `data` is null where it was left in the file.
struct PickleExtent {
  uint64_t offset = 0;
  uint64_t size = 0;
  const uint8_t* data = nullptr;
};

class PickleStream {
 public:
  using Buffers = std::deque<std::unique_ptr<uint8_t[]>>;

  // Pieces that are read are added to `buffers` and stay there, since views into them are given
  // out. Their sum is at most about twice the size of the input.
  PickleStream(const PickleInput& input, Buffers& buffers);

  // Of the next byte.
  uint64_t offset() const noexcept { return piece_offset_ + static_cast<uint64_t>(next_ - piece_); }
  uint64_t size() const noexcept { return size_; }

  // Exactly `size` bytes in one piece.
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

  // `size` bytes that may be left where they are.
  PickleExtent TakeExtent(uint64_t size);

  // The bytes up to the next newline, which is taken but not returned.
  PickleExtent TakeLine();

  // The bytes of an extent, read into `loaded` now if they were left in the file.
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

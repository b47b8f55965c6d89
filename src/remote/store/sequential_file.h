// Sequential reads of an object, in pieces that grow.
#pragma once

#include <cstdint>
#include <string>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"

namespace recpack::remote {

// Reads an object for somebody who reads it from front to back by small pieces and skips some: as
// long as skips are short it is read through, 4 MiB at a time and 16 MiB ahead; after a long one it
// begins anew with 64 KiB. Not thread-safe.
class SequentialFile final : public ReadableFile {
 public:
  // `object` must outlive it.
  explicit SequentialFile(const ReadableFile& object) : object_(object), size_(object.Size()) {}

  size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override;
  uint64_t Size() const override { return size_; }
  const std::string& path() const noexcept override { return object_.path(); }

 private:
  static constexpr uint64_t kFirstPiece = uint64_t{64} << 10, kLargestPiece = uint64_t{4} << 20;
  static constexpr uint64_t kAhead = 4 * kLargestPiece;
  // Reading so many bytes takes about as long as another request.
  static constexpr uint64_t kShortSkip = uint64_t{2} << 20;

  void Load(uint64_t offset) const;

  const ReadableFile& object_;
  const uint64_t size_;
  mutable ByteBuffer bytes_;  // of the object, from begin_ on
  mutable uint64_t begin_ = 0;
  mutable uint64_t piece_ = kFirstPiece;  // size of the next read
  mutable uint64_t announced_ = 0;        // end of what is fetched ahead, all of which is read
};

}  // namespace recpack::remote

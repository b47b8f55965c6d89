// Bounds-checked reader of Protocol Buffers' wire format.
#pragma once

#include <cstdint>
#include <string_view>

#include "recpack/base/bytes.h"
#include "src/base/wire.h"

namespace recpack {

// Reads the fields of one message. Throws Error (kCorrupt) with the offset from `base`, the start
// of the record or file; its reason says what is wrong, and the caller what the bytes are not.
class WireReader {
 public:
  WireReader(const uint8_t* base, ByteView bytes) noexcept
      : base_(base), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool AtEnd() const noexcept { return at_ == end_; }
  size_t left() const noexcept { return static_cast<size_t>(end_ - at_); }

  // Reads a tag: field number << 3 | wire type.
  uint32_t ReadTag() {
    if (at_ < end_ && *at_ >= 8 && *at_ < 0x80) return *at_++;
    return ReadLongTag();
  }

  uint64_t ReadVarint() {
    if (at_ < end_ && *at_ < 0x80) return *at_++;
    return ReadLongVarint();
  }

  ByteView ReadLengthDelimited() {
    const uint64_t length = at_ < end_ && *at_ < 0x80 ? *at_++ : ReadLongLength();
    if (length > left()) Fail("a field is longer than the message around it");
    const ByteView bytes(at_, length);
    at_ += length;
    return bytes;
  }

  uint32_t ReadFixed32() {
    if (left() < 4) Fail("a number is cut off");
    at_ += 4;
    return LoadLittleEndian<uint32_t>(at_ - 4);
  }

  // Skips the field whose tag was just read. `depth`: number of messages and groups around it.
  void Skip(uint32_t tag, int depth);

  [[noreturn]] void Fail(std::string_view reason) const;

 private:
  uint32_t ReadLongTag();
  uint64_t ReadLongVarint();
  uint64_t ReadLongLength();

  const uint8_t* base_;
  const uint8_t* at_;
  const uint8_t* end_;
};

}  // namespace recpack

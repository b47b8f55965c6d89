// Subset of Protocol Buffers' wire format.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "recpack/base/bytes.h"

namespace recpack {

inline constexpr uint32_t kVarint = 0;
inline constexpr uint32_t kFixed64 = 1;
inline constexpr uint32_t kLengthDelimited = 2;
inline constexpr uint32_t kStartGroup = 3;
inline constexpr uint32_t kEndGroup = 4;
inline constexpr uint32_t kFixed32 = 5;

constexpr uint8_t Tag(uint32_t field, uint32_t wire_type) {
  return static_cast<uint8_t>(field << 3 | wire_type);
}

// Returns the size of `value` as a varint: 1 to 10 bytes.
inline size_t VarintBytes(uint64_t value) noexcept {
  return (static_cast<size_t>(std::bit_width(value | 1)) * 9 + 64) / 64;
}

inline uint8_t* WriteVarint(uint8_t* out, uint64_t value) noexcept {
  while (value >= 0x80) {
    *out++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<uint8_t>(value);
  return out;
}

// Writes a one-byte tag and the length of the field.
inline uint8_t* WriteLengthHeader(uint8_t* out, uint8_t tag, uint64_t length) noexcept {
  *out++ = tag;
  return WriteVarint(out, length);
}

inline size_t LengthDelimitedBytes(uint64_t length) noexcept {
  return 1 + VarintBytes(length) + length;
}

}  // namespace recpack

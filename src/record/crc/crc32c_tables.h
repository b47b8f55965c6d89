// CRC-32C tables, computed at compile time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace recpack {

inline constexpr uint32_t kCastagnoli = 0x82f63b78;  // reflected

// slices[k][b]: the CRC register after byte b and k zero bytes ("slicing by 16").
using SliceTables = std::array<std::array<uint32_t, 256>, 16>;

constexpr SliceTables MakeSlices() {
  SliceTables slices{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? kCastagnoli : 0);
    slices[0][byte] = crc;
  }
  for (size_t k = 1; k < 16; ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t crc = slices[k - 1][byte];
      slices[k][byte] = (crc >> 8) ^ slices[0][crc & 255];
    }
  }
  return slices;
}

inline constexpr SliceTables kSlices = MakeSlices();

// Advances a CRC register over a fixed number of zero bytes, to combine the CRCs of adjacent blocks
// (the method of Mark Adler's crc32c.c).
class ZeroShift {
 public:
  explicit constexpr ZeroShift(size_t zeros) {
    for (uint32_t bit = 0; bit < 32; ++bit) {
      uint32_t crc = uint32_t{1} << bit;
      for (size_t i = 0; i < zeros; ++i) crc = (crc >> 8) ^ kSlices[0][crc & 255];
      for (uint32_t byte = 0; byte < 256; ++byte) {
        if (byte >> (bit % 8) & 1) table_[bit / 8][byte] ^= crc;
      }
    }
  }

  constexpr uint32_t operator()(uint32_t crc) const noexcept {
    return table_[0][crc & 255] ^ table_[1][crc >> 8 & 255] ^ table_[2][crc >> 16 & 255] ^
           table_[3][crc >> 24];
  }

 private:
  std::array<std::array<uint32_t, 256>, 4> table_{};
};

}  // namespace recpack

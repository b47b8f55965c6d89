#include "src/pack/item/crc32.h"

#include <array>

namespace recpack::pack {
namespace {

// Slicing by 8 (Kounavis and Berry, 2005): kTables[k][b] is the CRC of byte b and k zero bytes.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
    tables[0][b] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t b = 0; b < 256; ++b) {
      const uint32_t before = tables[k - 1][b];
      tables[k][b] = before >> 8 ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

}  // namespace

uint32_t Crc32(uint32_t crc, ByteView bytes) noexcept {
  crc = ~crc;
  const uint8_t* next = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, next += 8) {
    const uint64_t word = LoadLittleEndian<uint64_t>(next) ^ crc;
    crc = 0;
    for (size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][word >> (8 * i) & 0xFF];
  }
  for (; left > 0; --left, ++next) crc = crc >> 8 ^ kTables[0][(crc ^ *next) & 0xFF];
  return ~crc;
}

}  // namespace recpack::pack

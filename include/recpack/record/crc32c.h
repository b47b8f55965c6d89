// CRC-32C (Castagnoli polynomial, RFC 3720 appendix B.4) and TFRecord's mask over it.
#pragma once

#include <cstdint>
#include <span>

#include "recpack/base/bytes.h"

namespace recpack {

// Computes the CRC with the fastest implementation that ActiveCpu() allows. Thread-safe.
uint32_t Crc32c(ByteView bytes) noexcept;

// Returns the CRC of a stream with `bytes` appended, where `crc` is its CRC so far (0 if empty).
uint32_t ExtendCrc32c(uint32_t crc, ByteView bytes) noexcept;

// Returns the CRC of the 8 little-endian bytes of `value`.
uint32_t Crc32cOfU64(uint64_t value) noexcept;

// Masks a stored CRC (docs/format/tfrecord.md): the CRC of data that contains CRCs would be weak.
constexpr uint32_t MaskCrc(uint32_t crc) noexcept {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}
constexpr uint32_t UnmaskCrc(uint32_t masked) noexcept {
  const uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

struct Crc32cImplementation {
  const char* name;  // "portable", "hardware", "isal"
  uint32_t (*extend)(uint32_t crc, ByteView bytes) noexcept;
};

// Returns the implementations that can run on this machine, slowest first. Never empty; the first
// one is portable C++.
std::span<const Crc32cImplementation> Crc32cImplementations() noexcept;

// Returns the implementation that Crc32c() uses in this process.
const Crc32cImplementation& ActiveCrc32c() noexcept;

}  // namespace recpack

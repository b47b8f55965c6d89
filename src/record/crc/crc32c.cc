#include "recpack/record/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <array>

#include "recpack/base/cpu.h"
#include "src/record/crc/crc32c_hardware.h"
#include "src/record/crc/crc32c_tables.h"

namespace recpack {
namespace {

// Below this size a call into ISA-L does not pay off.
constexpr size_t kIsalMinimum = 128;

uint32_t ExtendPortable(uint32_t crc, ByteView bytes) noexcept {
  crc = ~crc;
  const uint8_t* at = bytes.data();
  const uint8_t* const end = at + bytes.size();
  for (; end - at >= 16; at += 16) {
    uint8_t block[16];
    std::copy_n(at, 16, block);
    for (size_t i = 0; i < 4; ++i) block[i] ^= static_cast<uint8_t>(crc >> (8 * i));
    crc = 0;
    for (size_t i = 0; i < 16; ++i) crc ^= kSlices[15 - i][block[i]];
  }
  for (; at < end; ++at) crc = (crc >> 8) ^ kSlices[0][(crc ^ *at) & 255];
  return ~crc;
}

// crc32_iscsi() takes the length as an int and inverts neither the initial value nor the result.
uint32_t ExtendIsal(uint32_t crc, ByteView bytes) noexcept {
  if (bytes.size() < kIsalMinimum) return ExtendHardware(crc, bytes);
  crc = ~crc;
  while (!bytes.empty()) {
    const ByteView part = bytes.first(std::min(bytes.size(), size_t{1} << 30));
    crc = crc32_iscsi(const_cast<uint8_t*>(part.data()), static_cast<int>(part.size()), crc);
    bytes = bytes.subspan(part.size());
  }
  return ~crc;
}

constexpr std::array<Crc32cImplementation, 3> kImplementations = {{
    {"portable", ExtendPortable},
    {"hardware", ExtendHardware},
    {"isal", ExtendIsal},
}};

// ISA-L selects code by the actual CPU, so it must not be used if RECPACK_CPU asks for a lower
// level.
bool IsalAllowed() noexcept { return HasCrcInstructions() && (ActiveCpu() >= CpuLevel::kAvx2); }

}  // namespace

std::span<const Crc32cImplementation> Crc32cImplementations() noexcept {
  const size_t usable = IsalAllowed() ? 3 : HasCrcInstructions() ? 2 : 1;
  return std::span(kImplementations).first(usable);
}

const Crc32cImplementation& ActiveCrc32c() noexcept {
  static const Crc32cImplementation& active = Crc32cImplementations().back();
  return active;
}

uint32_t ExtendCrc32c(uint32_t crc, ByteView bytes) noexcept {
  return ActiveCrc32c().extend(crc, bytes);
}

uint32_t Crc32c(ByteView bytes) noexcept { return ExtendCrc32c(0, bytes); }

uint32_t Crc32cOfU64(uint64_t value) noexcept {
  static const bool hardware = HasCrcInstructions();
  if (hardware) return HardwareCrcOfU64(value);
  uint8_t bytes[8];
  StoreLittleEndian(bytes, value);
  return ExtendPortable(0, bytes);
}

}  // namespace recpack

#include "src/record/crc/crc32c_hardware.h"

#include "recpack/base/cpu.h"
#include "src/record/crc/crc32c_tables.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#define RECPACK_CRC_TARGET __attribute__((target("sse4.2,crc32")))
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#define RECPACK_CRC_TARGET __attribute__((target("+crc")))
#endif

namespace recpack {

#if defined(RECPACK_CRC_TARGET)
namespace {

#if defined(__x86_64__)
RECPACK_CRC_TARGET inline uint32_t Step8(uint32_t crc, uint64_t word) noexcept {
  return static_cast<uint32_t>(_mm_crc32_u64(crc, word));
}
RECPACK_CRC_TARGET inline uint32_t Step1(uint32_t crc, uint8_t byte) noexcept {
  return _mm_crc32_u8(crc, byte);
}
#else
RECPACK_CRC_TARGET inline uint32_t Step8(uint32_t crc, uint64_t word) noexcept {
  return __crc32cd(crc, word);
}
RECPACK_CRC_TARGET inline uint32_t Step1(uint32_t crc, uint8_t byte) noexcept {
  return __crc32cb(crc, byte);
}
#endif

constexpr size_t kLongBlock = 2048;
constexpr size_t kShortBlock = 256;
constexpr ZeroShift kLongShift(kLongBlock);
constexpr ZeroShift kShortShift(kShortBlock);

// Consumes as many triples of blocks as fit in `bytes`.
template <size_t kBlock>
RECPACK_CRC_TARGET uint32_t Triples(uint32_t crc, ByteView& bytes,
                                    const ZeroShift& shift) noexcept {
  while (bytes.size() >= 3 * kBlock) {
    uint32_t second = 0;
    uint32_t third = 0;
    const uint8_t* at = bytes.data();
    for (const uint8_t* end = at + kBlock; at < end; at += 8) {
      crc = Step8(crc, LoadLittleEndian<uint64_t>(at));
      second = Step8(second, LoadLittleEndian<uint64_t>(at + kBlock));
      third = Step8(third, LoadLittleEndian<uint64_t>(at + 2 * kBlock));
    }
    crc = shift(shift(crc) ^ second) ^ third;
    bytes = bytes.subspan(3 * kBlock);
  }
  return crc;
}

}  // namespace

RECPACK_CRC_TARGET uint32_t ExtendHardware(uint32_t crc, ByteView bytes) noexcept {
  crc = Triples<kLongBlock>(~crc, bytes, kLongShift);
  crc = Triples<kShortBlock>(crc, bytes, kShortShift);
  const uint8_t* at = bytes.data();
  const uint8_t* const end = at + bytes.size();
  for (; end - at >= 8; at += 8) crc = Step8(crc, LoadLittleEndian<uint64_t>(at));
  for (; at < end; ++at) crc = Step1(crc, *at);
  return ~crc;
}

RECPACK_CRC_TARGET uint32_t HardwareCrcOfU64(uint64_t value) noexcept { return ~Step8(~0u, value); }

bool HasCrcInstructions() noexcept {
#if defined(__x86_64__)
  return ActiveCpu() >= CpuLevel::kSse42;
#else
  return ActiveCpu() == CpuLevel::kNeon && (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#endif
}

#else  // no CRC instructions on this architecture

uint32_t ExtendHardware(uint32_t crc, ByteView) noexcept { return crc; }
uint32_t HardwareCrcOfU64(uint64_t) noexcept { return 0; }
bool HasCrcInstructions() noexcept { return false; }

#endif

}  // namespace recpack

// CRC-32C by the instructions of SSE4.2 or ARMv8. Every function here must run only where
// HasCrcInstructions().
#pragma once

#include <cstdint>

#include "recpack/base/bytes.h"

namespace recpack {

// True where the machine has the instructions and ActiveCpu() allows them.
bool HasCrcInstructions() noexcept;

// Three streams at a time, since the instruction takes three cycles and starts every cycle.
uint32_t ExtendHardware(uint32_t crc, ByteView bytes) noexcept;

uint32_t HardwareCrcOfU64(uint64_t value) noexcept;

}  // namespace recpack

// CRC-32C with the instructions of SSE4.2 or ARMv8. Call the functions only if HasCrcInstructions()
// returns true.
#pragma once

#include <cstdint>

#include "recpack/base/bytes.h"

namespace recpack {

// Tells whether the CPU has the instructions and ActiveCpu() allows them.
bool HasCrcInstructions() noexcept;

// Processes three streams at a time: the instruction has a latency of three cycles and a throughput
// of one per cycle.
uint32_t ExtendHardware(uint32_t crc, ByteView bytes) noexcept;

uint32_t HardwareCrcOfU64(uint64_t value) noexcept;

}  // namespace recpack

// CPU features of this machine, and the number of processors available to this process.
#pragma once

#include <cstdint>

namespace recpack {

// Instruction sets that code paths are selected by. Each includes the ones before it on its
// architecture; kAvx2 implies F16C. The environment variable
// RECPACK_CPU=portable|sse42|avx2|avx512|neon lowers the level, so that tests can force every path;
// it never raises it.
enum class CpuLevel : uint8_t { kPortable, kSse42, kAvx2, kAvx512, kNeon };

// Returns the level to use in this process: detected once, lowered by RECPACK_CPU. Thread-safe.
CpuLevel ActiveCpu() noexcept;

// Returns the number of processors that the affinity mask and the cgroup quota allow this process;
// at least 1.
int AvailableThreads() noexcept;

}  // namespace recpack

// What this machine's processors can do, and how many of them this process may use.
#pragma once

#include <cstdint>

namespace recpack {

// Instruction sets that code paths are chosen by, each including the ones before it on its
// architecture; F16C comes with kAvx2. RECPACK_CPU=portable|sse42|avx2|avx512|neon in the
// environment lowers the level, so that tests can force every path; it never raises it.
enum class CpuLevel : uint8_t { kPortable, kSse42, kAvx2, kAvx512, kNeon };

// The level to use in this process: detected once, lowered by RECPACK_CPU. Any thread.
CpuLevel ActiveCpu() noexcept;

// Processors that the affinity mask and the cgroup's quota leave to this process; at least 1.
int AvailableThreads() noexcept;

}  // namespace recpack

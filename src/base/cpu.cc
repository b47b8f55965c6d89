#include "recpack/base/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "recpack/base/affinity.h"

namespace recpack {
namespace {

#if defined(__x86_64__)
// Registers that the system saves: bit n of XCR0.
uint64_t SavedState() noexcept {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

// Asks the processor itself. What __builtin_cpu_supports() asks is filled by the compiler's
// run-time library, which not all of them do: Zig's answers no to everything.
CpuLevel Detect() noexcept {
  constexpr uint64_t kYmm = 0x06, kZmm = 0xE6;  // with the registers that they extend
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_2) == 0) return CpuLevel::kPortable;
  const bool has_avx = (c & bit_OSXSAVE) != 0 && (c & bit_AVX) != 0 && (c & bit_F16C) != 0;
  if (!has_avx || (SavedState() & kYmm) != kYmm) return CpuLevel::kSse42;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & bit_AVX2) == 0) return CpuLevel::kSse42;
  constexpr unsigned kWide = bit_AVX512F | bit_AVX512BW | bit_AVX512VL;
  return (b & kWide) == kWide && (SavedState() & kZmm) == kZmm ? CpuLevel::kAvx512
                                                               : CpuLevel::kAvx2;
}
#else
CpuLevel Detect() noexcept {
#if defined(__aarch64__)
  return CpuLevel::kNeon;
#else
  return CpuLevel::kPortable;
#endif
}
#endif

CpuLevel LowerByEnvironment(CpuLevel detected) noexcept {
  const char* requested = std::getenv("RECPACK_CPU");
  if (requested == nullptr) return detected;
  const std::string_view name = requested;
  CpuLevel level = detected;
  if (name == "portable") level = CpuLevel::kPortable;
  if (name == "sse42") level = CpuLevel::kSse42;
  if (name == "avx2") level = CpuLevel::kAvx2;
  if (name == "avx512") level = CpuLevel::kAvx512;
  return std::min(level, detected);
}

// Returns the processors that the cgroup's CPU quota (version 2, this process's own group) allows,
// rounded to a whole number; 0 for no limit.
int QuotaThreads() noexcept {
  try {
    std::ifstream membership("/proc/self/cgroup");
    std::string line;
    while (std::getline(membership, line)) {
      if (!line.starts_with("0::")) continue;
      std::ifstream limit("/sys/fs/cgroup" + line.substr(3) + "/cpu.max");
      std::string quota;
      double period = 0;
      if (!(limit >> quota >> period) || quota == "max" || period <= 0) return 0;
      return std::max(1, static_cast<int>(std::stod(quota) / period + 0.5));
    }
  } catch (...) {
  }
  return 0;
}

}  // namespace

CpuLevel ActiveCpu() noexcept {
  static const CpuLevel level = LowerByEnvironment(Detect());
  return level;
}

int AvailableThreads() noexcept {
  int threads = 1;
  try {
    threads = std::max(1, static_cast<int>(AllowedProcessors().size()));
  } catch (...) {
  }
  const int quota = QuotaThreads();
  return quota > 0 ? std::min(threads, quota) : threads;
}

}  // namespace recpack

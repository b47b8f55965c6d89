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
// clang 14's __builtin_cpu_supports() does not know "f16c".
bool HasF16c() noexcept {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

CpuLevel Detect() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    return CpuLevel::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && HasF16c()) return CpuLevel::kAvx2;
  if (__builtin_cpu_supports("sse4.2")) return CpuLevel::kSse42;
#elif defined(__aarch64__)
  return CpuLevel::kNeon;
#endif
  return CpuLevel::kPortable;
}

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

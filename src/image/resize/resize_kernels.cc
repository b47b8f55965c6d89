#include "src/image/resize/resize_kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "recpack/base/cpu.h"

namespace recpack {
namespace {

#if defined(__x86_64__)
constexpr const ResizeKernels* kAll[] = {&kScalarResize, &kAvx2Resize, &kAvx512Resize};
bool HasVnni() {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & bit_AVX512VNNI) != 0;
}
size_t Usable() {
  if (ActiveCpu() < CpuLevel::kAvx2) return 1;
  return ActiveCpu() == CpuLevel::kAvx512 && HasVnni() ? 3 : 2;
}
#elif defined(__aarch64__)
constexpr const ResizeKernels* kAll[] = {&kScalarResize, &kNeonResize};
size_t Usable() { return ActiveCpu() == CpuLevel::kNeon ? 2 : 1; }
#else
constexpr const ResizeKernels* kAll[] = {&kScalarResize};
size_t Usable() { return 1; }
#endif

}  // namespace

std::span<const ResizeKernels* const> AvailableResizeKernels() noexcept {
  return std::span(kAll).first(Usable());
}

}  // namespace recpack

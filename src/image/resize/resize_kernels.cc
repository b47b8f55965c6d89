#include "src/image/resize/resize_kernels.h"

#include "recpack/base/cpu.h"

namespace recpack {
namespace {

#if defined(__x86_64__)
constexpr const ResizeKernels* kAll[] = {&kScalarResize, &kAvx2Resize, &kAvx512Resize};
size_t Usable() {
  if (ActiveCpu() < CpuLevel::kAvx2) return 1;
  return ActiveCpu() == CpuLevel::kAvx512 && __builtin_cpu_supports("avx512vnni") ? 3 : 2;
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

#include "kernels/host/norm_paths.h"
#include "recpack/base/cpu.h"

namespace recpack {
namespace {

NormPath Choose() {
#if defined(__x86_64__)
  if (ActiveCpu() >= CpuLevel::kAvx512) return Avx512Norm();
  if (ActiveCpu() >= CpuLevel::kAvx2) return Avx2Norm();
#endif
  return PortableNorm();
}

const NormPath& Path() {
  static const NormPath path = Choose();
  return path;
}

}  // namespace

void NormSums(ElementType type, const NormSumsArrays& arrays, size_t rows, size_t channels) {
  Path().sums(type, arrays, rows, channels);
}

void NormApply(ElementType type, const NormApplyArrays& arrays, bool relu, size_t rows,
               size_t channels) {
  Path().apply(type, arrays, relu, rows, channels);
}

void NormGradientSums(ElementType type, const NormGradientSumsArrays& arrays, NormMask mask,
                      size_t rows, size_t channels) {
  Path().gradient_sums(type, arrays, mask, rows, channels);
}

void NormGradientApply(ElementType type, const NormGradientApplyArrays& arrays, NormMask mask,
                       size_t rows, size_t channels) {
  Path().gradient_apply(type, arrays, mask, rows, channels);
}

}  // namespace recpack

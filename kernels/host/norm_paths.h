// Code paths of batch normalisation for each CPU level.
#pragma once

#include "kernels/batch_norm.h"

namespace recpack {

struct NormPath {
  decltype(&NormSums) sums;
  decltype(&NormApply) apply;
  decltype(&NormGradientSums) gradient_sums;
  decltype(&NormGradientApply) gradient_apply;
};

NormPath PortableNorm();
#if defined(__x86_64__)
NormPath Avx2Norm();
NormPath Avx512Norm();
#endif

}  // namespace recpack

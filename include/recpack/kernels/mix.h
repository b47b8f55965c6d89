// Weighted mean of two arrays (mixup).
#pragma once

#include <cstddef>

#include "recpack/kernels/finish.h"

namespace recpack {

// into = share * into + (1 - share) * other, for `count` elements and share in [0, 1]. Weights,
// products and the sum are each rounded to f32, never fused; the sum is rounded to nearest f16 or
// bf16, ties to even, or to nearest u8. Bit-identical on every CPU. `other` and `into` must not
// overlap partially. Elements must be aligned to their size. Throws Error
// (kInvalidArgument) for integers other than u8.
void MixInto(ElementType type, double share, void* into, const void* other, size_t count);

}  // namespace recpack

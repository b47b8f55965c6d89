// A weighted mean of two arrays.
#pragma once

#include <cstddef>

#include "recpack/kernels/finish.h"

namespace recpack {

// into = share * into + (1 - share) * other, for `count` elements, share in [0, 1]. Both weights
// are rounded to f32, products and the sum as well, never fused; f16 and bf16 are rounded to
// nearest from that sum, ties to even, u8 to nearest. The same bits on every CPU. `other` may not
// overlap in part. Elements lie as aligned as their size.
void MixInto(ElementType type, double share, void* into, const void* other, size_t count);

}  // namespace recpack

// Batch normalisation (Ioffe and Szegedy, 2015) with optional residual addition and ReLU, in two
// passes forward and two backward. The caller splits the rows among threads and adds up the partial
// sums.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recpack/kernels/finish.h"

namespace recpack {

// Arrays hold `rows` contiguous rows of `channels` values: the pixels of an NHWC activation.
// Activations and their gradients are of type kF32 or kBf16; all other arrays are f32, one value
// per channel.

// sums[c] += sum of (x - shift), squares[c] += sum of (x - shift)^2; in f32, so `rows` should be at
// most some hundreds. `shift` is any value near the mean: it avoids cancellation in the variance.
struct NormSumsArrays {
  const void* x;
  const float* shift;
  float* sums;
  float* squares;
};
void NormSums(ElementType type, const NormSumsArrays& arrays, size_t rows, size_t channels);

// y = x * factor + term (+ residual); with `relu`, max(y, 0). y may be x or residual.
struct NormApplyArrays {
  const void* x;
  const void* residual;  // may be null
  void* y;
  const float* factor;
  const float* term;
};
void NormApply(ElementType type, const NormApplyArrays& arrays, bool relu, size_t rows,
               size_t channels);

// Elements whose gradient passes the ReLU.
enum class NormMask : uint8_t {
  kAll,    // no ReLU
  kFromX,  // where x * factor + term > 0
  kFromY,  // where y > 0
};

// With g = (dy + dy_more) where the mask holds, else 0: sums[c] += sum of g, products[c] += sum of
// g * (x - mean). In f32, as above.
struct NormGradientSumsArrays {
  const void* dy;
  const void* dy_more;  // may be null
  const void* x;
  const void* y;  // used by kFromY
  const float* factor;
  const float* term;  // used by kFromX
  const float* mean;
  void* g;  // written; may be null, or dy or dy_more
  float* sums;
  float* products;
};
void NormGradientSums(ElementType type, const NormGradientSumsArrays& arrays, NormMask mask,
                      size_t rows, size_t channels);

// dx = of_g[c] * g + of_x[c] * x + constant[c], with g = dy where the mask holds (kAll or kFromX),
// else 0. dx may be dy.
struct NormGradientApplyArrays {
  const void* dy;
  const void* x;
  void* dx;
  const float* factor;
  const float* term;  // used by kFromX
  const float* of_g;
  const float* of_x;
  const float* constant;
};
void NormGradientApply(ElementType type, const NormGradientApplyArrays& arrays, NormMask mask,
                       size_t rows, size_t channels);

}  // namespace recpack

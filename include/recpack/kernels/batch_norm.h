// Batch normalisation of activations, with the addition and ReLU that follow it, in two passes each
// way: Ioffe and Szegedy, "Batch normalization", 2015. Sums are made by whoever calls these for
// stretches of rows, on as many threads as there are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recpack/kernels/finish.h"

namespace recpack {

// `rows` rows of `channels` values lie one behind the other: pixels of an NHWC activation. Types of
// activations and their gradients are kF32 or kBf16; all else is f32, by channel.

// sums[c] += sum of (x - shift), squares[c] += sum of (x - shift)^2; in f32, so `rows` should be
// some hundreds. `shift` is any value near the mean: it keeps the variance from cancelling.
struct NormSumsArrays {
  const void* x;
  const float* shift;
  float* sums;
  float* squares;
};
void NormSums(ElementType type, const NormSumsArrays& arrays, size_t rows, size_t channels);

// y = x * factor + term (+ residual), and below 0 it is 0 with `relu`. y may be x or residual.
struct NormApplyArrays {
  const void* x;
  const void* residual;  // may be null
  void* y;
  const float* factor;
  const float* term;
};
void NormApply(ElementType type, const NormApplyArrays& arrays, bool relu, size_t rows,
               size_t channels);

// Where the gradient of what was normalised passes ReLU.
enum class NormMask : uint8_t {
  kAll,    // there was none
  kFromX,  // where x * factor + term > 0
  kFromY,  // where y > 0
};

// With g = (dy + dy_more) where the mask holds, else 0: sums[c] += sum of g, products[c] += sum of
// g * (x - mean). In f32, as above.
struct NormGradientSumsArrays {
  const void* dy;
  const void* dy_more;  // may be null
  const void* x;
  const void* y;  // of kFromY
  const float* factor;
  const float* term;  // of kFromX
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
  const float* term;  // of kFromX
  const float* of_g;
  const float* of_x;
  const float* constant;
};
void NormGradientApply(ElementType type, const NormGradientApplyArrays& arrays, NormMask mask,
                       size_t rows, size_t channels);

}  // namespace recpack

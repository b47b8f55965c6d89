// Resize kernels for each CPU level. All are bit-identical; the scalar ones are the reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/image/resize/resize_weights.h"

namespace recpack {

// Bytes that `columns` may write after the last pixel in `to`.
constexpr size_t kRowPadding = 64;

struct ResizeKernels {
  const char* name;

  // Pack the weights for `columns` and for `rows`.
  ResizeWeights::Pack pack_columns, pack_rows;

  // Resizes one row horizontally: weights.padded() pixels of 1 to 4 channels. May read 16 bytes
  // from every fourth tap of every pixel (ColumnsReach()) and write kRowPadding extra bytes.
  void (*columns)(const uint8_t* from, const ResizeWeights& weights, int channels, uint8_t* to);

  // Computes `bytes` bytes of output row `y` from its weights.count[y] source rows.
  void (*rows)(const uint8_t* const* from, const ResizeWeights& weights, int y, size_t bytes,
               uint8_t* to);
};

// Returns the number of bytes from the start of a row that `columns` may read.
inline size_t ColumnsReach(const ResizeWeights& weights, int channels) {
  return static_cast<size_t>(weights.first.back() + RoundUp(weights.taps, 4) - 4) *
             static_cast<size_t>(channels) +
         16;
}

// Returns the kernels that this process may use, scalar first, fastest last.
std::span<const ResizeKernels* const> AvailableResizeKernels() noexcept;

extern const ResizeKernels kScalarResize;
#if defined(__x86_64__)
extern const ResizeKernels kAvx2Resize;
extern const ResizeKernels kAvx512Resize;  // also needs VNNI
#elif defined(__aarch64__)
extern const ResizeKernels kNeonResize;
#endif

}  // namespace recpack

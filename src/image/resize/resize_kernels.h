// The inner loops of a resize for each kind of CPU. All give the same bits; the scalar ones define
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/image/resize/resize_weights.h"

namespace recpack {

// Bytes after the last pixel that `columns` needs room for in `to`.
constexpr size_t kRowPadding = 64;

struct ResizeKernels {
  const char* name;

  // Of the weights given to `columns` and to `rows`.
  ResizeWeights::Pack pack_columns, pack_rows;

  // Resizes one row: weights.padded() pixels of 1 to 4 channels. May read 16 bytes from every
  // fourth tap of every pixel on (ReachOf()) and write kRowPadding bytes too many.
  void (*columns)(const uint8_t* from, const ResizeWeights& weights, int channels, uint8_t* to);

  // `bytes` bytes of output row `y` from the weights.count[y] rows that it is made of.
  void (*rows)(const uint8_t* const* from, const ResizeWeights& weights, int y, size_t bytes,
               uint8_t* to);
};

// Bytes from the start of a row on that `columns` may read.
inline size_t ReachOf(const ResizeWeights& weights, int channels) {
  return static_cast<size_t>(weights.first.back() + RoundUp(weights.taps, 4) - 4) *
             static_cast<size_t>(channels) +
         16;
}

// Those that this process may use, the scalar ones first, the best last.
std::span<const ResizeKernels* const> AvailableResizeKernels() noexcept;

extern const ResizeKernels kScalarResize;
#if defined(__x86_64__)
extern const ResizeKernels kAvx2Resize;
extern const ResizeKernels kAvx512Resize;  // needs VNNI too
#elif defined(__aarch64__)
extern const ResizeKernels kNeonResize;
#endif

}  // namespace recpack

// Lossless rewriting of JPEGs so that parts can be decoded alone (docs/format/jpeg-tile.md).
#pragma once

#include <cstdint>

#include "recpack/base/bytes.h"

namespace recpack {

struct TileOptions {
  // Wanted width of a restart segment, in pixels. Smaller: less to decode for a crop, larger files.
  // 0: one segment a row of MCUs.
  int target_pixels = 64;
  // Larger images are refused before memory is taken for them.
  uint64_t max_pixels = 178'956'970;
};

// The file with the same coefficients, quantisation tables, sampling factors and APPn and COM
// segments, as a sequential JPEG of one scan with optimal Huffman tables and a restart interval of
// ChooseRestartInterval(). Decoders give the same pixels for both. What follows the end marker is
// dropped. The result has been read back and found equal, coefficient by coefficient, before it is
// returned; it is a function of the input, the options and libjpeg-turbo's version.
//
// Throws Error: kCorrupt where the input is damaged in any way that libjpeg notices; kUnsupported,
// with the reason, for JPEGs that cannot be had so and may well be kept as they are: arithmetic
// coding, 12 bits, lossless, progressive files whose scans leave out coefficients, more than four
// components, sampling factors that no single scan can hold, coefficients too large for the
// sequential mode, above max_pixels. No other format is a JPEG: kUnsupported too.
ByteBuffer TileJpeg(ByteView jpeg, const TileOptions& options = {});

// MCUs between restarts: the divisor of `mcus_per_row` whose width is nearest to `target_pixels`,
// by ratio, the wider one of two. Divisors of less than half the target or more than four times it
// are not near: where there is no other (as with a prime number of MCUs a row), the whole row.
int ChooseRestartInterval(int mcus_per_row, int mcu_width, int target_pixels) noexcept;

}  // namespace recpack

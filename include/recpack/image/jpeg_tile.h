// Lossless transcoder that adds restart markers to JPEGs, so that regions can be decoded alone
// (docs/format/jpeg-tile.md).
#pragma once

#include <cstdint>

#include "recpack/base/bytes.h"

namespace recpack {

struct TileOptions {
  // Target width of a restart segment, in pixels. Smaller values mean less decoding for a crop, but
  // larger files. 0: one segment per row of MCUs.
  int target_pixels = 64;
  // Larger images are refused before memory is allocated for them.
  uint64_t max_pixels = 178'956'970;
};

// Rewrites a JPEG with the same coefficients, quantisation tables, sampling factors and APPn and
// COM segments as a sequential JPEG of one scan with optimal Huffman tables and the restart
// interval of ChooseRestartInterval(). It decodes to the same pixels. Data after the end marker is
// dropped. The result is read back and compared, coefficient by coefficient, before it is returned;
// it depends only on the input, the options and libjpeg-turbo's version.
//
// Throws Error: kCorrupt if libjpeg finds the input damaged; kUnsupported, with the reason, for
// other formats and for JPEGs that cannot be rewritten (callers may keep these as they are):
// arithmetic coding, 12 bits, lossless, progressive files whose scans leave out coefficients, more
// than four components, sampling factors that do not fit one scan, coefficients too large for the
// sequential mode, more than max_pixels.
ByteBuffer TileJpeg(ByteView jpeg, const TileOptions& options = {});

// Returns the number of MCUs between restarts: the divisor of `mcus_per_row` whose width is nearest
// to `target_pixels` by ratio, the wider one of two equally near. Divisors of less than half or
// more than four times the target are not used: if there are no others (as for a prime number of
// MCUs per row), returns the whole row.
int ChooseRestartInterval(int mcus_per_row, int mcu_width, int target_pixels) noexcept;

}  // namespace recpack

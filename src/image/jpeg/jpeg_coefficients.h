// Reading and comparison of the quantised DCT coefficients of JPEGs.
#pragma once

#include "src/image/jpeg/jpeg_session.h"

namespace recpack {

// Reads all coefficients; they are valid until the reader's next Open(). Throws Error (kCorrupt) on
// damage.
jvirt_barray_ptr* ReadCoefficients(JpegReader& reader);

// Tells whether a progressive file lacks some coefficients; call it after all scans have been read.
// Decoders estimate (smooth) these from neighbouring blocks, but not in sequential files, and not
// correctly at the edges of a crop.
bool LeavesOutCoefficients(const jpeg_decompress_struct& info);

// Returns nullptr if both have the same blocks, tables, size and sampling, otherwise a description
// of the difference. Blocks that only pad the last MCU of a row or column are not compared.
const char* FindDifference(JpegReader& a, jvirt_barray_ptr* a_blocks, JpegReader& b,
                           jvirt_barray_ptr* b_blocks);

}  // namespace recpack

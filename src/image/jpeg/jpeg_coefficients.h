// Quantised DCT coefficients of a JPEG, for proving that two files hold the same.
#pragma once

#include "src/image/jpeg/jpeg_session.h"

namespace recpack {

// Reads all coefficients; they live in the reader until its next Open(). Throws Error (kCorrupt)
// on damage.
jvirt_barray_ptr* ReadCoefficients(JpegReader& reader);

// Whether a progressive file never sent some coefficients, known when all its scans were read. A
// decoder then guesses (smooths) them from neighbouring blocks, which it does not for sequential
// files, nor rightly at the edges of a crop.
bool LeavesOutCoefficients(const jpeg_decompress_struct& info);

// nullptr where both hold the same blocks, tables, size and sampling; else what differs. Blocks
// that only fill up the last MCU of a row or column are not part of the image and not compared.
const char* FindDifference(JpegReader& a, jvirt_barray_ptr* a_blocks, JpegReader& b,
                           jvirt_barray_ptr* b_blocks);

}  // namespace recpack

// TIFF decoder based on libtiff; does not apply the orientation.
#pragma once

#include "recpack/base/bytes.h"
#include "recpack/image/decode.h"

namespace recpack {

// Decodes the first image of a TIFF: gray, RGB, CMYK and palettes, in strips or tiles, of 1 to 16
// bits, with all compressions of libtiff. Gives 1 channel for gray images if the layout is
// kAsStored, and for gray images and palettes if it is kOne; 2 if it is kOne16; otherwise 3. Throws
// Error: kCorrupt; kUnsupported for other pixels (floats, CIE L*a*b*, ...), and for 16 bits if the
// layout is kOne.
void DecodeTiff(ByteView bytes, const DecodeOptions& options, Image& out);

}  // namespace recpack

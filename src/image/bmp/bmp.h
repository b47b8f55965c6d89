// BMP decoder.
#pragma once

#include "recpack/base/bytes.h"
#include "recpack/image/decode.h"

namespace recpack {

// Decodes 1, 4, 8, 16, 24 and 32 bits per pixel, to the values of Pillow's convert("RGB"). Gives 1
// channel for a gray palette if the layout is kAsStored; if it is kOne, the indices of any palette,
// except that 1 bit of black and white gives 0 and 255, as in Pillow, since a BMP has no other way
// to say so; otherwise 3. Throws Error: kCorrupt, kUnsupported for run-length encoding.
void DecodeBmp(ByteView bytes, const DecodeOptions& options, Image& out);

}  // namespace recpack

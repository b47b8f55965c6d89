// BMP decoder.
#pragma once

#include "recpack/base/bytes.h"
#include "recpack/image/decode.h"

namespace recpack {

// Decodes 1, 4, 8, 16, 24 and 32 bits per pixel, to the values of Pillow's convert("RGB"). Gives 1
// channel for a gray palette unless the layout is kRgb, and for any palette, its indices, if it is
// kOne; otherwise 3. Throws Error: kCorrupt, kUnsupported for run-length encoding.
void DecodeBmp(ByteView bytes, const DecodeOptions& options, Image& out);

}  // namespace recpack

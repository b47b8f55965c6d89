// GIF decoder.
#pragma once

#include "recpack/base/bytes.h"
#include "recpack/image/decode.h"

namespace recpack {

// Decodes the first image of a GIF, to the values of Pillow's convert("RGB"): transparency is left
// out, and what the image does not cover has the transparent colour, or the first. Gives 1 channel
// for a gray palette if the layout is kAsStored, and the palette's indices if it is kOne; otherwise
// 3. Throws Error (kCorrupt).
void DecodeGif(ByteView bytes, const DecodeOptions& options, Image& out);

}  // namespace recpack

// Decodes PNGs, without turning them by their EXIF orientation.
#pragma once

#include "recpack/base/bytes.h"
#include "recpack/image/decode.h"

namespace recpack {

void DecodePng(ByteView bytes, const DecodeOptions& options, Image& out);

}  // namespace recpack

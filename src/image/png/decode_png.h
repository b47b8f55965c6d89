// PNG decoder based on libpng; does not apply the EXIF orientation.
#pragma once

#include "recpack/base/bytes.h"
#include "recpack/image/decode.h"

namespace recpack {

void DecodePng(ByteView bytes, const DecodeOptions& options, Image& out);

}  // namespace recpack

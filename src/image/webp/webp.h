// WebP decoder based on libwebp; does not apply the EXIF orientation.
#pragma once

#include "recpack/base/bytes.h"
#include "recpack/image/decode.h"

namespace recpack {

// Gives 3 channels. Throws Error: kCorrupt, kUnsupported for animations.
void DecodeWebp(ByteView bytes, const DecodeOptions& options, Image& out);

}  // namespace recpack

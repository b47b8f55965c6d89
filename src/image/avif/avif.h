// AVIF decoder based on libavif; does not apply the orientation.
#pragma once

#include "recpack/base/bytes.h"
#include "recpack/image/decode.h"

namespace recpack {

// Gives 3 channels, by libavif's own conversion from YUV, which is the same in all its builds for a
// processor. Throws Error: kCorrupt, also where damage is allowed, since AV1 has no rows that stand
// alone; kUnsupported for sequences, and without libavif.
void DecodeAvif(ByteView bytes, const DecodeOptions& options, Image& out);

}  // namespace recpack

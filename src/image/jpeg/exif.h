// The one thing of EXIF that matters to pixels.
#pragma once

#include "recpack/base/bytes.h"

namespace recpack {

// The orientation (1..8) in a TIFF structure, as EXIF carries it (tag 0x0112 of the first
// directory); 1 where there is none or where the structure is broken: EXIF is often broken in files
// that are fine otherwise, and every viewer shows them upright.
int ExifOrientation(ByteView tiff) noexcept;

}  // namespace recpack

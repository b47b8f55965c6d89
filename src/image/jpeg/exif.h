// Parser of the EXIF orientation.
#pragma once

#include "recpack/base/bytes.h"

namespace recpack {

// Returns the orientation (1..8) in a TIFF structure, as embedded in EXIF (tag 0x0112 of the first
// directory). Returns 1 if there is none or the structure is damaged: EXIF is often damaged in
// otherwise valid files, and viewers show them upright.
int ExifOrientation(ByteView tiff) noexcept;

}  // namespace recpack

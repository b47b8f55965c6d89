// The check of a rectangle against the picture that it is cut from.
#pragma once

#include <cstdint>

#include "recpack/image/image.h"

namespace recpack {

// Throws Error (kInvalidArgument) where the region is empty or not inside.
void CheckRegion(const Region& region, int64_t image_width, int64_t image_height);

}  // namespace recpack

// Reads image files in the form that a network expects.
#pragma once

#include <string>

#include "recpack/image/image.h"

namespace recpack::tool {

// Reads an image file, applies its EXIF orientation, resizes its shorter side to `size` and crops
// the centre: size x size RGB pixels. Throws Error with the path: kNotFound, kIo, kCorrupt,
// kUnsupported.
Image ReadPicture(const std::string& path, int size);

}  // namespace recpack::tool

// Pictures in files, as a network reads them.
#pragma once

#include <string>

#include "recpack/image/image.h"

namespace recpack::tool {

// A JPEG or PNG turned as its EXIF orientation says, its shorter side resized to `size`, and the
// middle of it: size x size pixels of RGB. Throws Error with the path: kNotFound, kIo, kCorrupt,
// kUnsupported.
Image ReadPicture(const std::string& path, int size);

}  // namespace recpack::tool

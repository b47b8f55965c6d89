#pragma once

#include "recpack/base/error.h"
#include "recpack/image/image.h"
#include "src/base/format.h"

namespace recpack {

// Throws Error (kInvalidArgument) unless `image` is what the encoders take.
inline void CheckEncodable(const Image& image) {
  const bool whole = image.width > 0 && image.height > 0 &&
                     image.pixels.size() == image.row_bytes() * static_cast<size_t>(image.height);
  if (whole && (image.channels == 1 || image.channels == 3)) return;
  throw Error(ErrorKind::kInvalidArgument,
              format("cannot encode {}x{} pixels with {} channels in {} bytes", image.width,
                     image.height, image.channels, image.pixels.size()));
}

}  // namespace recpack

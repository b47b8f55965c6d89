// A part of a picture.
#pragma once

#include <algorithm>
#include <cstddef>

#include "recpack/image/image.h"

namespace recpack {

inline Image CutOut(const Image& from, const Region& region) {
  Image out;
  out.Reshape(region.width, region.height, from.channels);
  for (int y = 0; y < region.height; ++y) {
    std::copy_n(from.row(region.y + y) + static_cast<ptrdiff_t>(region.x) * from.channels,
                out.row_bytes(), out.row(y));
  }
  return out;
}

}  // namespace recpack

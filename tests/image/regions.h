// Crops of images, and random regions.
#pragma once

#include <algorithm>

#include "recpack/base/random.h"
#include "recpack/image/image.h"

namespace recpack {

inline Image Crop(const Image& image, const Region& region) {
  Image out;
  out.Reshape(region.width, region.height, image.channels);
  for (int y = 0; y < region.height; ++y) {
    std::copy_n(image.row(region.y + y) + region.x * image.channels, out.row_bytes(), out.row(y));
  }
  return out;
}

inline int Below(KeyedRandom& random, int n) {
  return static_cast<int>(random.NextBelow(static_cast<uint32_t>(n)));
}

inline Region RandomRegion(int width, int height, KeyedRandom& random) {
  const int w = 1 + Below(random, width), h = 1 + Below(random, height);
  return {Below(random, width - w + 1), Below(random, height - h + 1), w, h};
}

}  // namespace recpack

#include "src/image/region.h"

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {

void CheckRegion(const Region& region, int64_t image_width, int64_t image_height) {
  const auto inside = [](int at, int size, int64_t whole) {
    return at >= 0 && size > 0 && int64_t{at} + size <= whole;
  };
  if (inside(region.x, region.width, image_width) &&
      inside(region.y, region.height, image_height)) {
    return;
  }
  throw Error(ErrorKind::kInvalidArgument,
              format("a region of {}x{} pixels at ({}, {}) is not inside an image of {}x{}",
                     region.width, region.height, region.x, region.y, image_width, image_height));
}

}  // namespace recpack

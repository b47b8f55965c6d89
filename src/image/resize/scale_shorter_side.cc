#include <algorithm>
#include <cstdint>
#include <limits>

#include "recpack/base/error.h"
#include "recpack/image/resize.h"
#include "src/base/format.h"

namespace recpack {

ImageSize ScaleShorterSide(ImageSize size, int shorter) {
  if (size.width < 1 || size.height < 1) {
    throw Error(ErrorKind::kInvalidArgument,
                format("cannot scale an image of {} x {}", size.width, size.height));
  }
  const auto scale = [&](int longer, int by) {
    const int64_t scaled = int64_t{shorter} * longer / by;
    if (scaled > std::numeric_limits<int>::max()) {
      throw Error(
          ErrorKind::kUnsupported,
          format("an image of {} x {} is too narrow: with a shorter side of {} its longer side "
                 "would have {} pixels",
                 size.width, size.height, shorter, scaled),
          {}, "leave it out, or crop it first");
    }
    return std::max(1, static_cast<int>(scaled));
  };
  if (size.width <= size.height) return {shorter, scale(size.height, size.width)};
  return {scale(size.width, size.height), shorter};
}

}  // namespace recpack

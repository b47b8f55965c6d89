#include "src/loader/image/crop_choice.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/loader/image/portable_math.h"

namespace recpack {

RandomCrop::RandomCrop(double area_low, double area_high, double aspect_low, double aspect_high)
    : shape_(area_low, area_high, aspect_low, aspect_high),
      aspect_low_(aspect_low),
      aspect_high_(aspect_high) {
  if (!(area_low > 0 && area_low <= area_high && area_high <= 1 && aspect_low > 0 &&
        aspect_low <= aspect_high)) {
    throw Error(ErrorKind::kInvalidArgument,
                format("invalid random crop: area {}..{}, aspect {}..{}", area_low, area_high,
                       aspect_low, aspect_high),
                {}, "areas lie in (0, 1], the low bound comes first");
  }
}

Region RandomCrop::operator()(ImageSize size, KeyedRandom& random) const {
  const double pixels = static_cast<double>(size.width) * size.height;
  for (int i = 0; i < RandomShape::kTries; ++i) {
    const auto [width, height] = shape_(pixels, random);
    if (width <= 0 || height <= 0 || width > size.width || height > size.height) continue;
    const auto y = random.NextBelow(static_cast<uint32_t>(size.height - height + 1));
    const auto x = random.NextBelow(static_cast<uint32_t>(size.width - width + 1));
    return {static_cast<int>(x), static_cast<int>(y), width, height};
  }
  return Middle(size);
}

Region RandomCrop::Middle(ImageSize size) const {
  const double aspect = static_cast<double>(size.width) / size.height;
  int width = size.width;
  int height = size.height;
  if (aspect < aspect_low_) height = std::clamp(PortableRound(width / aspect_low_), 1, size.height);
  if (aspect > aspect_high_)
    width = std::clamp(PortableRound(height * aspect_high_), 1, size.width);
  return {(size.width - width) / 2, (size.height - height) / 2, width, height};
}

Region CentreCrop(ImageSize size, int width, int height) {
  return {PortableRound((size.width - width) / 2.0), PortableRound((size.height - height) / 2.0),
          width, height};
}

}  // namespace recpack

#include "src/loader/image/erase.h"

#include <cstring>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {

Eraser::Eraser(const RandomErasing& options, const FinishOptions& result,
               const std::array<uint8_t, 3>& u8_values)
    : options_(options),
      result_(result),
      values_{},
      shape_(options.area[0], options.area[1], options.aspect[0], options.aspect[1]) {
  const auto& [probability, area, aspect] = options;
  if (!(probability >= 0 && probability <= 1 && area[0] >= 0 && area[0] <= area[1] &&
        area[1] <= 1 && aspect[0] > 0 && aspect[0] <= aspect[1] && aspect[1] < 1e6)) {
    throw Error(ErrorKind::kInvalidArgument,
                format("invalid erasing: probability {}, area {}..{}, aspect {}..{}", probability,
                       area[0], area[1], aspect[0], aspect[1]),
                {}, "probability and area lie in 0 to 1, the low bound comes first");
  }
  if (result.type == ElementType::kU8) values_ = u8_values;
}

Region Eraser::Choose(KeyedRandom& random) const {
  if (!(random.NextUnit() < options_.probability)) return {};
  const int height = result_.out_height;
  const int width = result_.out_width;
  const double pixels = static_cast<double>(height) * width;
  for (int i = 0; i < RandomShape::kTries; ++i) {
    const auto [h, w] = shape_(pixels, random);
    if (h >= height || w >= width) continue;
    const auto y = random.NextBelow(static_cast<uint32_t>(height - h + 1));
    const auto x = random.NextBelow(static_cast<uint32_t>(width - w + 1));
    return {static_cast<int>(x), static_cast<int>(y), w, h};
  }
  return {};
}

void Eraser::Erase(const Region& region, uint8_t* picture) const {
  const size_t element = ElementBytes(result_.type);
  const auto channels = static_cast<size_t>(result_.channels);
  const auto width = static_cast<size_t>(region.width);
  for (int y = region.y; y < region.y + region.height; ++y) {
    const size_t first = static_cast<size_t>(y) * result_.out_width + region.x;
    if (result_.out_layout == ImageLayout::kNhwc) {
      uint8_t* row = picture + first * channels * element;
      std::memset(row, 0, width * channels * element);
      if (result_.type != ElementType::kU8) continue;
      for (size_t i = 0; i < width * channels; ++i) row[i] = values_[i % channels];
    } else {
      const size_t plane = static_cast<size_t>(result_.out_height) * result_.out_width;
      for (size_t c = 0; c < channels; ++c) {
        std::memset(picture + (c * plane + first) * element, values_[c], width * element);
      }
    }
  }
}

}  // namespace recpack

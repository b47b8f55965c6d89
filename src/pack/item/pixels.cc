#include "src/pack/item/pixels.h"

#include <limits>
#include <vector>

#include "recpack/example/shape.h"

namespace recpack::pack {

std::optional<PixelView> FindPixels(const ExampleView& example, const FeatureView& feature) {
  if (feature.kind() != FeatureKind::kBytes) return {};
  std::vector<int64_t> shape = FindShape(example, feature);
  if (shape.size() == 2) shape.push_back(1);
  if (shape.size() != 3 || (shape[2] != 1 && shape[2] != 3 && shape[2] != 4)) return {};
  constexpr int64_t kMost = std::numeric_limits<int>::max() / 4;
  if (shape[0] < 1 || shape[1] < 1 || shape[0] > kMost || shape[1] > kMost) return {};
  const auto height = static_cast<int>(shape[0]), width = static_cast<int>(shape[1]);
  const auto channels = static_cast<int>(shape[2]);
  return PixelView{feature.bytes_values()[0].data(), width, height, channels,
                   static_cast<size_t>(width) * static_cast<size_t>(channels)};
}

}  // namespace recpack::pack

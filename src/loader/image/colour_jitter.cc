#include "src/loader/image/colour_jitter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/loader/image/augment_colour.h"

namespace recpack {
namespace {

enum Adjustment : size_t { kBrightness, kContrast, kSaturation, kHue, kAdjustments };

void Adjust(size_t which, const ColourJitter& jitter, double unit, Image& image) {
  const auto factor = [unit](double strength) {
    const double low = std::max(0.0, 1 - strength);
    return static_cast<float>(low + (1 + strength - low) * unit);
  };
  if (which == kBrightness && jitter.brightness > 0) {
    AdjustBrightness(image, factor(jitter.brightness));
  } else if (which == kContrast && jitter.contrast > 0) {
    AdjustContrast(image, factor(jitter.contrast));
  } else if (which == kSaturation && jitter.saturation > 0) {
    AdjustSaturation(image, factor(jitter.saturation));
  } else if (which == kHue && jitter.hue > 0) {
    AdjustHue(image, jitter.hue * (2 * unit - 1));
  }
}

}  // namespace

void CheckColourJitter(const ColourJitter& jitter) {
  const auto refuse = [](const char* what, double value, const char* advice) {
    throw Error(ErrorKind::kInvalidArgument, format("invalid colour jitter: {} {}", what, value),
                {}, advice);
  };
  for (const auto& [name, value] :
       {std::pair("brightness", jitter.brightness), std::pair("contrast", jitter.contrast),
        std::pair("saturation", jitter.saturation)}) {
    if (!(value >= 0 && value <= 1000)) refuse(name, value, "choose 0 or more");
  }
  if (!(jitter.hue >= 0 && jitter.hue <= 0.5)) refuse("hue", jitter.hue, "choose 0 to 0.5");
  if (!(jitter.probability >= 0 && jitter.probability <= 1)) {
    refuse("probability", jitter.probability, "choose 0 to 1");
  }
}

void JitterColours(const ColourJitter& jitter, KeyedRandom& random, Image& image) {
  const bool wanted = random.NextUnit() < jitter.probability;
  std::array<size_t, kAdjustments> order = {kBrightness, kContrast, kSaturation, kHue};
  for (uint32_t i = kAdjustments - 1; i > 0; --i)
    std::swap(order[i], order[random.NextBelow(i + 1)]);
  std::array<double, kAdjustments> units;
  for (double& unit : units) unit = random.NextUnit();
  if (!wanted) return;
  for (const size_t which : order) Adjust(which, jitter, units[which], image);
}

}  // namespace recpack

#include "src/loader/image/augment_policy.h"

#include <cmath>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/loader/image/augment_colour.h"
#include "src/loader/image/augment_geometric.h"
#include "src/loader/image/augment_tone.h"

namespace recpack {
namespace {

using Op = AugmentOperation;

// torch.linspace(first, last, 31)[bin] in f32, computed from both ends towards the middle.
float Linspace(double first, double last, int bin) {
  const auto low = static_cast<float>(first), high = static_cast<float>(last);
  const float step = (high - low) / (kMagnitudeBins - 1);
  if (bin < kMagnitudeBins / 2) return low + step * static_cast<float>(bin);
  return high - step * static_cast<float>(kMagnitudeBins - 1 - bin);
}

// 8 - round(bin / (30 / lost)); never halfway between two integers.
float Bits(int bin, int lost) {
  const int kept = 8 - (bin * lost + 15) / 30;
  return static_cast<float>(kept);
}

bool IsSigned(Op operation) { return operation >= Op::kShearX && operation <= Op::kSharpness; }

}  // namespace

float Magnitude(AugmentPolicyKind kind, Op operation, int bin, ImageSize size) {
  const bool wide = kind == AugmentPolicyKind::kTrivialAugmentWide;
  switch (operation) {
    case Op::kShearX:
    case Op::kShearY:
      return Linspace(0, wide ? 0.99 : 0.3, bin);
    case Op::kTranslateX:
      return Linspace(0, wide ? 32 : 150.0 / 331.0 * size.width, bin);
    case Op::kTranslateY:
      return Linspace(0, wide ? 32 : 150.0 / 331.0 * size.height, bin);
    case Op::kRotate:
      return Linspace(0, wide ? 135 : 30, bin);
    case Op::kBrightness:
    case Op::kColour:
    case Op::kContrast:
    case Op::kSharpness:
      return Linspace(0, wide ? 0.99 : 0.9, bin);
    case Op::kPosterize:
      return Bits(bin, wide ? 6 : 4);
    case Op::kSolarize:
      return Linspace(255, 0, bin);
    default:
      return 0;
  }
}

void CheckPolicy(const AugmentPolicy& policy) {
  if (policy.kind != AugmentPolicyKind::kRandAugment) return;
  if (policy.operations < 1 || policy.operations > 100) {
    throw Error(ErrorKind::kInvalidArgument,
                format("invalid RandAugment: {} operations", policy.operations), {},
                "choose 1 or more");
  }
  if (policy.magnitude < 0 || policy.magnitude >= kMagnitudeBins) {
    throw Error(ErrorKind::kInvalidArgument,
                format("invalid RandAugment: magnitude {}", policy.magnitude), {},
                "choose 0 to 30");
  }
}

void ApplyOperation(Op operation, double magnitude, Interpolation interpolation, Image& image,
                    Image& scratch) {
  const auto factor = static_cast<float>(1 + magnitude);
  const auto warp = [&](const Affine& affine) {
    Warp(image, affine, interpolation, scratch);
    std::swap(image, scratch);
  };
  switch (operation) {
    case Op::kIdentity:
      return;
    case Op::kShearX:
      return warp(ShearX(magnitude));
    case Op::kShearY:
      return warp(ShearY(magnitude));
    case Op::kTranslateX:
      return warp(Translate(static_cast<int>(magnitude), 0));
    case Op::kTranslateY:
      return warp(Translate(0, static_cast<int>(magnitude)));
    case Op::kRotate:
      return warp(Rotate(magnitude, {image.width, image.height}));
    case Op::kBrightness:
      return AdjustBrightness(image, factor);
    case Op::kColour:
      return AdjustSaturation(image, factor);
    case Op::kContrast:
      return AdjustContrast(image, factor);
    case Op::kSharpness:
      return AdjustSharpness(image, factor, scratch);
    case Op::kPosterize:
      return Posterize(image, static_cast<int>(magnitude));
    case Op::kSolarize:
      return Solarize(image, magnitude);
    case Op::kAutoContrast:
      return AutoContrast(image);
    case Op::kEqualize:
      return Equalize(image);
  }
}

void ApplyPolicy(const AugmentPolicy& policy, KeyedRandom& random, Image& image, Image& scratch) {
  const bool wide = policy.kind == AugmentPolicyKind::kTrivialAugmentWide;
  for (int i = 0; i < (wide ? 1 : policy.operations); ++i) {
    const auto operation = static_cast<Op>(random.NextBelow(kAugmentOperations));
    const auto bin = static_cast<int>(random.NextBelow(kMagnitudeBins));
    const bool negative = (random.NextU32() & 1) != 0 && IsSigned(operation);
    const double magnitude = Magnitude(policy.kind, operation, wide ? bin : policy.magnitude,
                                       {image.width, image.height});
    ApplyOperation(operation, negative ? -magnitude : magnitude, policy.interpolation, image,
                   scratch);
  }
}

}  // namespace recpack

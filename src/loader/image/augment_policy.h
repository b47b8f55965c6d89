// RandAugment and TrivialAugmentWide: which operations a picture gets.
#pragma once

#include <cstdint>

#include "recpack/base/random.h"
#include "recpack/image/image.h"
#include "recpack/image/resize.h"
#include "recpack/loader/augment.h"

namespace recpack {

// In torchvision's order.
enum class AugmentOperation : uint8_t {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kColour,
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutoContrast,
  kEqualize,
};
inline constexpr uint32_t kAugmentOperations = 14;
inline constexpr int kMagnitudeBins = 31;

// torchvision's tables for pictures of `size`, with no sign; bin 0 to 30.
float Magnitude(AugmentPolicyKind kind, AugmentOperation operation, int bin, ImageSize size);

// Throws Error (kInvalidArgument) for a policy that makes no sense.
void CheckPolicy(const AugmentPolicy& policy);

// In place; `scratch` is used again from call to call.
void ApplyOperation(AugmentOperation operation, double magnitude, Interpolation interpolation,
                    Image& image, Image& scratch);

// Draws three numbers an operation, whatever it is.
void ApplyPolicy(const AugmentPolicy& policy, KeyedRandom& random, Image& image, Image& scratch);

}  // namespace recpack

// RandAugment and TrivialAugmentWide.
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

// torchvision's magnitude tables for images of `size`, unsigned; `bin` is 0 to 30.
float Magnitude(AugmentPolicyKind kind, AugmentOperation operation, int bin, ImageSize size);

// Throws Error (kInvalidArgument) for an invalid policy.
void CheckPolicy(const AugmentPolicy& policy);

// In place; `scratch` is reused across calls.
void ApplyOperation(AugmentOperation operation, double magnitude, Interpolation interpolation,
                    Image& image, Image& scratch);

// Always draws three numbers per operation.
void ApplyPolicy(const AugmentPolicy& policy, KeyedRandom& random, Image& image, Image& scratch);

}  // namespace recpack

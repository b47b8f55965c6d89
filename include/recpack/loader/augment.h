// Options for image augmentation beyond crop and flip: colour jitter, erasing, RandAugment,
// TrivialAugmentWide.
#pragma once

#include <array>
#include <cstdint>

namespace recpack {

// torchvision's ColorJitter with Pillow's arithmetic. The four operations run in random order.
// Brightness, contrast and saturation are multiplied by a factor uniform in [max(0, 1 - x), 1 + x];
// the hue is rotated by a share of the colour circle uniform in [-hue, hue].
struct ColourJitter {
  double probability = 1;  // of changing an image at all
  double brightness = 0;   // 0: unchanged; the same for contrast and saturation
  double contrast = 0;
  double saturation = 0;
  double hue = 0;  // 0 to 0.5

  bool operator==(const ColourJitter&) const = default;
};

// torchvision's RandomErasing: with `probability`, sets a rectangle of random area and aspect to 0
// after normalisation; for u8 results, to the value nearest to the mean.
struct RandomErasing {
  double probability = 0;
  std::array<double, 2> area = {0.02, 0.33};  // share of the result's area
  std::array<double, 2> aspect = {0.3, 3.3};  // height / width

  bool operator==(const RandomErasing&) const = default;
};

// Interpolation for shears, translations and rotations; pixels from outside the image are 0.
enum class Interpolation : uint8_t {
  kNearest,   // default of torchvision's classes
  kBilinear,  // used by torchvision's reference training
};

enum class AugmentPolicyKind : uint8_t {
  kNone,
  kRandAugment,         // `operations` of the 14 operations, at one magnitude
  kTrivialAugmentWide,  // one of the 14 operations, at a random magnitude
};

// torchvision's RandAugment and TrivialAugmentWide: same operations and magnitudes (31 bins), with
// Pillow's arithmetic.
struct AugmentPolicy {
  AugmentPolicyKind kind = AugmentPolicyKind::kNone;
  Interpolation interpolation = Interpolation::kNearest;
  int operations = 2;  // kRandAugment
  int magnitude = 9;   // kRandAugment: 0 to 30

  bool operator==(const AugmentPolicy&) const = default;
};

// Applied to the u8 image of the result's size after crop and flip, in the order of the members;
// erasing comes last, after normalisation. Each member draws from its own random stream, keyed by
// (seed, epoch, position, view): enabling one does not change the others, the crop or the flip.
struct ImageAugment {
  AugmentPolicy policy;
  ColourJitter colour;
  RandomErasing erasing;

  bool operator==(const ImageAugment&) const = default;
};

}  // namespace recpack

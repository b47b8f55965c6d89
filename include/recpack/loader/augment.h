// What changes a picture's colours and shape on its way into a batch, beyond crop and flip.
#pragma once

#include <array>
#include <cstdint>

namespace recpack {

// torchvision's ColorJitter with Pillow's arithmetic: the four in a random order, each by a factor
// uniform in [max(0, 1 - x), 1 + x]; the hue turned by [-hue, hue] of the colour circle.
struct ColourJitter {
  double probability = 1;  // of jittering a picture at all
  double brightness = 0;   // 0: left as it is; also the two below
  double contrast = 0;
  double saturation = 0;
  double hue = 0;  // 0 to 0.5

  bool operator==(const ColourJitter&) const = default;
};

// torchvision's RandomErasing: with `probability` a rectangle of a random share of the picture and
// a random aspect becomes 0 behind normalisation; in u8 results the value next to the mean.
struct RandomErasing {
  double probability = 0;
  std::array<double, 2> area = {0.02, 0.33};  // of the result's
  std::array<double, 2> aspect = {0.3, 3.3};  // height / width

  bool operator==(const RandomErasing&) const = default;
};

// How shears, shifts and turns take values between pixels; what comes from outside is 0.
enum class Interpolation : uint8_t {
  kNearest,   // the default of torchvision's classes
  kBilinear,  // what its reference training asks for
};

enum class AugmentPolicyKind : uint8_t {
  kNone,
  kRandAugment,         // `operations` ones of 14, at one magnitude
  kTrivialAugmentWide,  // one of 14, at a random magnitude
};

// torchvision's RandAugment and TrivialAugmentWide: their operations and magnitudes (in 31 bins)
// with Pillow's arithmetic.
struct AugmentPolicy {
  AugmentPolicyKind kind = AugmentPolicyKind::kNone;
  Interpolation interpolation = Interpolation::kNearest;
  int operations = 2;  // kRandAugment
  int magnitude = 9;   // kRandAugment: 0 to 30

  bool operator==(const AugmentPolicy&) const = default;
};

// Done to the u8 picture of the result's size, once it is cropped and flipped, in this order, but
// for erasing, which comes last. Each family draws its own numbers by (seed, epoch, position,
// view): one more of them leaves the others, the crop and the flip as they are.
struct ImageAugment {
  AugmentPolicy policy;
  ColourJitter colour;
  RandomErasing erasing;

  bool operator==(const ImageAugment&) const = default;
};

}  // namespace recpack

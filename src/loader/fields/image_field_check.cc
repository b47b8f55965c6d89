#include "src/loader/fields/image_field_check.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/loader/data/streams.h"
#include "src/loader/fields/picture.h"
#include "src/loader/image/augment_policy.h"
#include "src/loader/image/colour_jitter.h"

namespace recpack {
namespace {

constexpr int kMostPad = 1 << 20;  // pixels

void CheckAugment(const ImageField& field) {
  CheckPolicy(field.augment.policy);
  CheckColourJitter(field.augment.colour);
  if (IsAugmented(field) && field.raw_shape[0] == 2) {
    Refuse(format("image field '{}' is augmented and has 2 channels", field.name),
           "augment pictures of 1 or 3 channels");
  }
  if (field.view >= kMostViews) {
    Refuse(format("image field '{}' is view {}", field.name, field.view),
           format("views are numbered below {}", kMostViews));
  }
  if (field.finish_on_device && field.augment.erasing.probability > 0) {
    Refuse(format("image field '{}' is erased and finished on a device", field.name),
           "finish it on the host: erasing comes after normalising");
  }
}

void CheckBits(const ImageField& field) {
  const int bits = field.decoding.bits;
  if (bits == 8) {
    if (field.type == ElementType::kI32) {
      Refuse(format("image field '{}' is of type i32", field.name),
             "that is for bits = 16; choose u8, f16, bf16 or f32");
    }
    return;
  }
  if (bits != 16) Refuse(format("image field '{}' has {} bits", field.name, bits), "give 8 or 16");
  if (field.decoding.channels != 1 || IsRaw(field)) {
    Refuse(format("image field '{}' has 16 bits and more than one channel, or raw pictures",
                  field.name),
           "give channels = 1 and encoded pictures");
  }
  if (field.filter != ResizeFilter::kNearest || IsAugmented(field) ||
      field.augment.erasing.probability > 0 || field.finish_on_device) {
    Refuse(
        format(
            "image field '{}' has 16 bits, which are cropped, flipped and resized by nearest only",
            field.name),
        "choose nearest, no augmentation, and finish it on the host");
  }
  if (field.type != ElementType::kI32 && field.type != ElementType::kF32) {
    Refuse(format("image field '{}' has 16 bits and type {}", field.name, ElementName(field.type)),
           "choose i32 or f32");
  }
}

}  // namespace

bool IsAugmented(const ImageField& field) {
  const ColourJitter& colour = field.augment.colour;
  return field.augment.policy.kind != AugmentPolicyKind::kNone || colour.brightness > 0 ||
         colour.contrast > 0 || colour.saturation > 0 || colour.hue > 0;
}

void CheckImageField(const ImageField& field) {
  if (field.height < 1 || field.width < 1) {
    Refuse(format("image field '{}' is {} x {}", field.name, field.height, field.width),
           "both sides are at least 1");
  }
  if (IsRaw(field) &&
      (field.raw_shape[0] > 3 || field.raw_shape[1] < 1 || field.raw_shape[2] < 1)) {
    Refuse(format("image field '{}' has an invalid raw shape", field.name),
           "give channels (1 to 3), height, width");
  }
  const ImageDecoding& decoding = field.decoding;
  if (decoding.channels != 3 &&
      (decoding.channels != 1 || (IsRaw(field) && field.raw_shape[0] != 1))) {
    Refuse(format("image field '{}' has {} channels", field.name, decoding.channels),
           "give 1 or 3 for encoded pictures; the raw shape says those of raw ones");
  }
  if ((decoding.channels == 1 || field.filter == ResizeFilter::kNearest) &&
      (decoding.scaled || decoding.resize_planes)) {
    Refuse(format("image field '{}' is decoded approximately, which mixes values of masks",
                  field.name),
           "leave scaled and resize_planes off with one channel or nearest");
  }
  if (field.crop == CropKind::kPadAndCrop && !IsRaw(field)) {
    Refuse("pad-and-crop is for raw pictures, all of one size",
           "choose another crop for encoded pictures");
  }
  if (std::abs(int64_t{field.pad}) > kMostPad) {
    Refuse(format("image field '{}' is padded by {} pixels", field.name, field.pad),
           format("choose at most {}", kMostPad));
  }
  if (field.crop == CropKind::kResizeCentre && field.resize < std::max(field.height, field.width)) {
    Refuse(format("image field '{}' is resized to {} and cropped to {} x {}", field.name,
                  field.resize, field.width, field.height),
           "resize to at least the larger side");
  }
  if (!(field.flip >= 0 && field.flip <= 1)) {
    Refuse(format("invalid flip probability {}", field.flip), "choose 0 to 1");
  }
  for (const double mean : field.mean) {
    if (!std::isfinite(mean)) Refuse(format("a mean is {}", mean), "give three numbers");
  }
  for (const double deviation : field.std) {
    if (!(deviation > 0)) Refuse("a standard deviation is not positive", "give three above 0");
  }
  CheckAugment(field);
  CheckBits(field);
}

}  // namespace recpack

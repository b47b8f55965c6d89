// Makes the image of a field: chooses the crop, decodes and resizes.
#pragma once

#include <optional>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/base/random.h"
#include "recpack/image/header.h"
#include "recpack/image/image.h"
#include "recpack/image/resize.h"
#include "recpack/loader/field.h"
#include "src/loader/fields/field_writer.h"
#include "src/loader/image/crop_choice.h"

namespace recpack {

inline bool IsRaw(const ImageField& field) noexcept { return field.raw_shape[0] > 0; }

// Immutable and thread-safe.
class PictureMaker {
 public:
  // The field must be valid. `shared`: other fields use the same image, which is then decoded as a
  // whole, once per sample.
  PictureMaker(const ImageField& field, bool shared);

  // Returns the image in the result's size, with interleaved channels, contiguous; valid until the
  // tools are used for another image. `pixels`: the record's own, of 1, 3 or 4 channels, where
  // `bytes` are no encoded image. Random crops use `random`. Throws as FieldWriter::Write().
  PixelView operator()(ByteView bytes, KeyedRandom& random, SampleTools& tools,
                       const std::optional<PixelView>& pixels = {}) const;

 private:
  // Part of the image that becomes the result: rectangle `part` of the oriented image is resized as
  // a whole, of which `window` is taken. Pixels of `needed` are decoded.
  struct Choice {
    Region part;
    ResizeWindow window;
    Region needed;
  };

  Choice Choose(ImageSize seen, KeyedRandom& random) const;
  static PictureCrop ToCrop(const Choice& choice, ImageSize seen);
  int ChooseScale(const Choice& choice) const;
  void Scale(Choice& choice, ImageSize whole, int denominator) const;
  PixelView Decoded(ByteView bytes, const ImageHeader& header, Choice& choice, Region& shown,
                    SampleTools& tools) const;
  bool DecodedToKeep(ByteView bytes, ImageSize seen, SampleTools& tools) const;
  PixelView Raw(ByteView bytes, SampleTools& tools) const;
  PixelView Converted(const PixelView& pixels, SampleTools& tools) const;
  PixelView Resized(const PixelView& from, const Region& shown, const Choice& choice,
                    SampleTools& tools) const;

  ImageField field_;
  bool shared_;
  RandomCrop random_crop_;
};

// Returns true if another field uses the same image with the same decoding.
bool SharesPicture(const ImageField& field, const std::vector<Field>& fields);

}  // namespace recpack

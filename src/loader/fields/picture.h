// Bytes to the picture that a field asks for: which part is taken, decoded and resized.
#pragma once

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

// Immutable; any number of threads.
class PictureMaker {
 public:
  // Of a field that makes sense. `shared`: other fields make theirs of the same picture, which is
  // decoded as a whole, once a sample.
  PictureMaker(const ImageField& field, bool shared);

  // The picture in the result's size, channels interleaved, without gaps; valid until the tools are
  // used for another. `random` says where a random crop is. Throws as FieldWriter::Write() does.
  PixelView operator()(ByteView bytes, KeyedRandom& random, SampleTools& tools) const;

 private:
  // What becomes the result: of the rectangle `part` of the picture as it is seen, resized as a
  // whole, a window. `needed` of the picture's pixels are decoded.
  struct Choice {
    Region part;
    ResizeWindow window;
    Region needed;
  };

  Choice Choose(ImageSize seen, KeyedRandom& random) const;
  int ScaleOf(const Choice& choice) const;
  void Scale(Choice& choice, ImageSize whole, int denominator) const;
  PixelView Decoded(ByteView bytes, const ImageHeader& header, Choice& choice, Region& shown,
                    SampleTools& tools) const;
  bool DecodedToKeep(ByteView bytes, ImageSize seen, SampleTools& tools) const;
  PixelView Raw(ByteView bytes, SampleTools& tools) const;
  PixelView Resized(const PixelView& from, const Region& shown, const Choice& choice,
                    SampleTools& tools) const;

  ImageField field_;
  bool shared_;
  RandomCrop random_crop_;
};

// Whether another of the fields makes its pictures of the same one, decoded alike.
bool SharesPicture(const ImageField& field, const std::vector<Field>& fields);

}  // namespace recpack

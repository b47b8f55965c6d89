// Random and centre crop rectangles.
#pragma once

#include "recpack/base/random.h"
#include "recpack/image/image.h"
#include "recpack/image/resize.h"
#include "src/loader/image/random_shape.h"

namespace recpack {

// torchvision's RandomResizedCrop.get_params: ten tries of an area and a (log-uniform) aspect, then
// the largest centre crop with a valid aspect.
class RandomCrop {
 public:
  // Areas are shares of the image's area, aspects are width / height. Throws Error
  // (kInvalidArgument).
  RandomCrop(double area_low, double area_high, double aspect_low, double aspect_high);

  Region operator()(ImageSize size, KeyedRandom& random) const;

 private:
  Region Middle(ImageSize size) const;

  RandomShape shape_;
  double aspect_low_, aspect_high_;
};

// torchvision's center_crop of an image that is at least as large: halves are rounded to even.
Region CentreCrop(ImageSize size, int width, int height);

}  // namespace recpack

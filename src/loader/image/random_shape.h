// Random side lengths of a rectangle, as torchvision's RandomResizedCrop and RandomErasing draw
// them.
#pragma once

#include <cmath>
#include <utility>

#include "recpack/base/random.h"
#include "src/loader/image/portable_math.h"

namespace recpack {

class RandomShape {
 public:
  static constexpr int kTries = 10;  // before their callers give up

  // Areas are shares, with area_low <= area_high; aspects are above 0, with aspect_low <=
  // aspect_high.
  RandomShape(double area_low, double area_high, double aspect_low, double aspect_high)
      : area_low_(area_low),
        area_high_(area_high),
        log_low_(PortableLog(aspect_low)),
        log_high_(PortableLog(aspect_high)) {}

  // Returns two sides whose product is a share of `pixels`, uniform, and whose quotient is an
  // aspect, log-uniform; both rounded.
  std::pair<int, int> operator()(double pixels, KeyedRandom& random) const {
    const double area = pixels * (area_low_ + (area_high_ - area_low_) * random.NextUnit());
    const double aspect = PortableExp(log_low_ + (log_high_ - log_low_) * random.NextUnit());
    return {PortableRound(std::sqrt(area * aspect)), PortableRound(std::sqrt(area / aspect))};
  }

 private:
  double area_low_, area_high_;
  double log_low_, log_high_;  // of the aspect
};

}  // namespace recpack

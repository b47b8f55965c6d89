// Random erasing of a rectangle in a finished image.
#pragma once

#include <array>
#include <cstdint>

#include "recpack/base/random.h"
#include "recpack/image/image.h"
#include "recpack/kernels/finish.h"
#include "recpack/loader/augment.h"
#include "src/loader/image/random_shape.h"

namespace recpack {

// torchvision's RandomErasing for results of one format. Immutable and thread-safe.
class Eraser {
 public:
  // `result`: how images are finished. `u8_values`: values per channel for u8 results; other types
  // get 0. Throws Error (kInvalidArgument).
  Eraser(const RandomErasing& options, const FinishOptions& result,
         const std::array<uint8_t, 3>& u8_values);

  // Makes up to ten tries of an area and a (log-uniform) aspect; both sides must be smaller than
  // the image's. Width 0: nothing to erase.
  Region Choose(KeyedRandom& random) const;

  // `picture`: a finished image.
  void Erase(const Region& region, uint8_t* picture) const;

  bool wanted() const noexcept { return options_.probability > 0; }

 private:
  RandomErasing options_;
  FinishOptions result_;
  std::array<uint8_t, 3> values_;
  RandomShape shape_;
};

}  // namespace recpack

// A rectangle of a finished picture that is wiped out.
#pragma once

#include <array>
#include <cstdint>

#include "recpack/base/random.h"
#include "recpack/image/image.h"
#include "recpack/kernels/finish.h"
#include "recpack/loader/augment.h"

namespace recpack {

// torchvision's RandomErasing on results of one kind. Immutable; any number of threads.
class Eraser {
 public:
  // `result`: how pictures are finished; `u8_values`: what is written by channel where that is u8,
  // 0 elsewhere. Throws Error (kInvalidArgument).
  Eraser(const RandomErasing& options, const FinishOptions& result,
         const std::array<uint8_t, 3>& u8_values);

  // Ten tries of an area and an aspect (logarithmically uniform), which must be smaller than the
  // picture both ways; width 0 where none is erased.
  Region Choose(KeyedRandom& random) const;

  // `picture` is one that was finished.
  void Erase(const Region& region, uint8_t* picture) const;

  bool wanted() const noexcept { return options_.probability > 0; }

 private:
  RandomErasing options_;
  FinishOptions result_;
  std::array<uint8_t, 3> values_;
  double log_low_ = 0, log_high_ = 0;  // of the aspect
};

}  // namespace recpack

// Samples of a loader: one view of a data set, or several views mixed by weight.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recpack/loader/view.h"

namespace recpack {

struct MixedView {
  View view;
  double weight = 1;  // relative to the other weights; above 0
};

struct MixOptions {
  // Number of samples after which the shares are exact: weights are rounded to whole counts per
  // period by the largest remainder. 1 to 65536.
  uint32_t period = 100;
  // Samples per epoch. 0: as many whole periods as are needed to deliver each record of each view
  // at least once in the first epoch. The view that finishes last, relative to its weight, sets the
  // length; the others repeat.
  uint64_t epoch_samples = 0;
};

// Immutable and thread-safe. Cheap to copy.
//
// Samples are numbered across epochs, t = epoch * samples() + position, and grouped in periods. A
// keyed permutation of the period's number assigns the slots of period g: exactly counts()[k] of
// them to view k. The view's i-th slot there is sample n = g * counts()[k] + i of the view, that is
// sample n mod view.samples() of the view's own epoch n / view.samples(), in that epoch's keyed
// order. So no record repeats before all others of its view have been delivered, small views repeat
// in a new order, large views continue where the last epoch ended, and any t is computed in O(1).
//
// All views have the same fields and the same order kind. A rank takes every world-size-th sample
// of the mixture: with a window order, each rank reads blocks of all lanes.
class Mixture {
 public:
  // A single data set or view, without mixing.
  Mixture(const Dataset& dataset);  // NOLINT(google-explicit-constructor)
  Mixture(const View& view);        // NOLINT(google-explicit-constructor)

  // Throws Error (kInvalidArgument) if there are no views, if a weight is not above 0, or if a
  // weight is so small that it rounds to no sample per period.
  explicit Mixture(const std::vector<MixedView>& views, const MixOptions& options = {});

  const std::vector<View>& views() const noexcept { return views_; }
  uint64_t samples() const noexcept { return samples_; }  // per epoch
  uint64_t records() const noexcept;                      // sum over the views' own epochs
  uint64_t bytes() const noexcept;                        // sum over the views
  uint32_t period() const noexcept { return period_; }    // 1 for a single view
  // Per view: samples in a period
  const std::vector<uint32_t>& counts() const noexcept { return counts_; }

  // For one view, the view's digest. For several: "mix", 16 digits for the whole, and 4 for each
  // view (views with equal numbers modulo 8 share them).
  const std::string& digest() const noexcept { return digest_; }

  // Describes how this mixture differs from the one with `digest`; empty if it does not.
  std::string DifferenceFrom(const std::string& digest) const;

 private:
  std::vector<View> views_;
  std::vector<uint32_t> counts_;
  uint32_t period_ = 1;
  uint64_t samples_;
  std::string digest_;
};

}  // namespace recpack

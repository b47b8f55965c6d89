// What a loader samples from: one view of a data set, or several, mixed by weight.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recpack/loader/view.h"

namespace recpack {

struct MixedView {
  View view;
  double weight = 1;  // its share of the samples, relative to the other weights; above 0
};

struct MixOptions {
  // Samples after which the shares are exact: weights become whole counts of a period by the
  // largest remainder. 1 to 65536.
  uint32_t period = 100;
  // Samples of an epoch. 0: as many whole periods as it takes until each record of each view has
  // come at least once in the first epoch; so the view that ends last, relative to its weight,
  // sets the length, and the others repeat.
  uint64_t epoch_samples = 0;
};

// Immutable and cheap to copy; any number of threads.
//
// Samples are numbered through all epochs, t = epoch * samples() + position, and come in periods.
// A keyed permutation of the period's number says which slots of period g are view k's: counts()[k]
// of them, no more and no less. Its i-th slot there is sample n = g * counts()[k] + i of the view,
// sample n mod view.samples() of its own epoch n / view.samples(), in its own keyed order. So none
// of its records comes again before all have come, small views repeat in a new order, large ones
// go on where the last epoch left them, and any t is found in O(1).
//
// All views have the same fields and the same kind of order. A rank takes every world-size-th
// sample of the mixture: with a window order each rank reads blocks of all lanes.
class Mixture {
 public:
  // Everything of one: no mixing.
  Mixture(const Dataset& dataset);  // NOLINT(google-explicit-constructor)
  Mixture(const View& view);        // NOLINT(google-explicit-constructor)

  // Throws Error (kInvalidArgument) for none, for a weight that is not above 0, and for one so
  // small that it comes to no sample a period.
  explicit Mixture(const std::vector<MixedView>& views, const MixOptions& options = {});

  const std::vector<View>& views() const noexcept { return views_; }
  uint64_t samples() const noexcept { return samples_; }  // of an epoch
  uint64_t records() const noexcept;                      // of all views' own epochs
  uint64_t bytes() const noexcept;                        // of all views
  uint32_t period() const noexcept { return period_; }    // 1 of one view
  const std::vector<uint32_t>& counts() const noexcept { return counts_; }  // by view, a period

  // Of one view: the view's. Of several: "mix", 16 digits of everything, and 4 of each view (of
  // those with the same number modulo 8).
  const std::string& digest() const noexcept { return digest_; }

  // Says in what this differs from what had `digest`; empty: in nothing.
  std::string DifferenceFrom(const std::string& digest) const;

 private:
  std::vector<View> views_;
  std::vector<uint32_t> counts_;
  uint32_t period_ = 1;
  uint64_t samples_;
  std::string digest_;
};

}  // namespace recpack

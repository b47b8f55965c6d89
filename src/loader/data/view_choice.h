// Representation of a View.
#pragma once

#include <vector>

#include "recpack/loader/view.h"
#include "src/loader/data/id_list.h"

namespace recpack {

// Record ordinals by sample number; in a balanced view grouped by class: those of class c begin at
// first[c]. In a weighted view, record i has the part [bounds[i - 1], bounds[i]) of kWeightSum.
struct View::Choice {
  IdList ids;
  std::vector<uint64_t> first;        // balanced only: per class, and the end
  uint64_t class_samples = 0;         // balanced only: samples of each class per epoch
  std::vector<uint64_t> bounds = {};  // weighted only: per record
  uint64_t epoch_samples = 0;         // weighted only

  static constexpr int kWeightBits = 62;
  static constexpr uint64_t kWeightSum = uint64_t{1} << kWeightBits;

  bool weighted() const noexcept { return !bounds.empty(); }
  // Weighted only: returns the index in `ids` of sample `number`.
  uint64_t Draw(uint64_t number, uint64_t seed, uint64_t epoch) const noexcept;
  size_t classes() const noexcept { return first.empty() ? 0 : first.size() - 1; }
};

}  // namespace recpack

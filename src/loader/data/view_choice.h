// Representation of a View.
#pragma once

#include <vector>

#include "recpack/loader/view.h"
#include "src/loader/data/id_list.h"

namespace recpack {

// Record ordinals by sample number; in a balanced view grouped by class: those of class c begin at
// first[c].
struct View::Choice {
  IdList ids;
  std::vector<uint64_t> first;  // balanced only: per class, and the end
  uint64_t class_samples = 0;   // balanced only: samples of each class per epoch

  size_t classes() const noexcept { return first.empty() ? 0 : first.size() - 1; }
};

}  // namespace recpack

// What a view holds.
#pragma once

#include <vector>

#include "recpack/loader/view.h"
#include "src/loader/data/id_list.h"

namespace recpack {

// Records by number or, balanced, class by class: those of class c begin at first[c].
struct View::Choice {
  IdList ids;
  std::vector<uint64_t> first;  // balanced: by class, and the end
  uint64_t class_samples = 0;   // balanced: of each class in an epoch

  size_t classes() const noexcept { return first.empty() ? 0 : first.size() - 1; }
};

}  // namespace recpack

// Median of numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace recpack {

// Returns the middle value, or the mean of the two middle ones; 0 if there are none.
inline double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

}  // namespace recpack

// Figures with their uncertainty.
#pragma once

#include <cstddef>
#include <vector>

namespace recpack {

// An interval that holds the true value in 95 of 100 cases.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct Part {
  double part = 0;
  double whole = 0;
};

// Sum of the parts over sum of the wholes, in order of time: neighbours may depend on each other,
// so stretches of about the root of their number are drawn together (moving-block bootstrap, Künsch
// 1989; percentile interval). The same series gives the same bits.
Estimate ShareOf(const std::vector<Part>& series);

}  // namespace recpack

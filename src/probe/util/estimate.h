// Figures with their uncertainty.
#pragma once

#include <cstddef>
#include <vector>

namespace recpack::probe {

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

// Sum of the parts over sum of the wholes, at least 0. The series is in order of time. Neighbours
// may depend on each other, so stretches of them are drawn together: circular block bootstrap
// (Politis and Romano 1992), as long as the series' autocorrelation asks for (Politis and White
// 2004), percentile interval, widened by Student's t for as many observations as there are blocks
// (as Hesterberg 2015 does for few of them). What changes within no time that the series lasts
// cannot be seen in it. The same series gives the same bits.
Estimate QuotientOf(const std::vector<Part>& series);
// The same where the parts are parts of the wholes: the interval ends at 1.
Estimate ShareOf(const std::vector<Part>& series);

}  // namespace recpack::probe

// How far neighbours in a series depend on each other.
#pragma once

#include <cstddef>
#include <vector>

namespace recpack::probe {

struct Blocks {
  size_t length = 1;
  double seen = 1;  // of the variance of the series' mean, by stretches of that length
};

// Of the stretches that a circular block bootstrap of the series should draw, from its
// autocorrelation (Politis and White 2004, with the correction of Patton, Politis and White 2009);
// at least the cube root of the number, which is right where little correlation shows, and at most
// a third of it. 1 of a series of fewer than 3. What depends on each other and lies in two
// stretches is not seen: by the same autocorrelation, at least a half of the variance is.
Blocks BlocksOf(const std::vector<double>& series);

}  // namespace recpack::probe

// Chooses the block length of a circular block bootstrap from a series' autocorrelation.
#pragma once

#include <cstddef>
#include <vector>

namespace recpack::probe {

struct Blocks {
  size_t length = 1;
  double seen = 1;  // share of the variance of the series' mean that blocks of this length capture
};

// Chooses the length by Politis and White 2004, with the correction of Patton, Politis and White
// 2009. It is at least the cube root of the series' length, which is right for little correlation,
// and at most a third of it; 1 for fewer than 3 values. Dependence between values in different
// blocks is lost: `seen` estimates by the same autocorrelation what is left, at least 0.5.
Blocks ChooseBlocks(const std::vector<double>& series);

}  // namespace recpack::probe

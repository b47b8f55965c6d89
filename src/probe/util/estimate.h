// Estimates with confidence intervals, by block bootstrap.
#pragma once

#include <cstddef>
#include <vector>

namespace recpack::probe {

// A value with its 95 % confidence interval.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

// One observation of a ratio.
struct Part {
  double part = 0;
  double whole = 0;
};

// Estimates the sum of the parts over the sum of the wholes, at least 0. The series must be in
// order of time. Neighbours may depend on each other, so a circular block bootstrap (Politis and
// Romano 1992) draws blocks, whose length follows from the autocorrelation (Politis and White
// 2004). The percentile interval is widened by Student's t for as many observations as there are
// blocks (as Hesterberg 2015 does for small samples). Changes slower than the series is long are
// not covered. Deterministic: the same series gives the same bits.
Estimate EstimateQuotient(const std::vector<Part>& series);
// As EstimateQuotient(), for parts that cannot exceed their wholes: the interval ends at 1.
Estimate EstimateShare(const std::vector<Part>& series);

inline constexpr double kNormal975 =
    1.959963984540054;  // 0.975 quantile of the normal distribution

// Returns the 0.975 quantile of Student's t (Abramowitz and Stegun 26.7.5). Accurate to 4 % from 2
// degrees of freedom on and to 0.2 % from 5 on; fewer than 2 count as 2.
double Student975(double freedom);

}  // namespace recpack::probe

// Student's t.
#pragma once

namespace recpack::probe {

inline constexpr double kNormal975 = 1.959963984540054;

// The 0.975 quantile by degrees of freedom (Abramowitz and Stegun 26.7.5): within 4 % from 2 on,
// which fewer count as, and within 0.2 % from 5 on.
inline double Student975(double freedom) {
  const double nu = freedom < 2 ? 2 : freedom, z = kNormal975, z2 = z * z;
  const double g1 = (z2 + 1) / 4;
  const double g2 = ((5 * z2 + 16) * z2 + 3) / 96;
  const double g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  return z * (1 + (g1 + (g2 + g3 / nu) / nu) / nu);
}

}  // namespace recpack::probe

// Checks gradients by finite differences along random directions, so that one number covers all
// elements.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "recpack/base/random.h"

namespace recpack::train {

// Uniform in +-size.
inline std::vector<float> RandomValues(size_t count, uint64_t seed, float size = 1) {
  KeyedRandom random(seed, 7, 0);
  std::vector<float> values(count);
  for (float& value : values) value = size * (2 * random.NextUnit() - 1);
  return values;
}

inline double Dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

// Checks that `loss` changes along random directions from `at` as `gradient` predicts, within
// `tolerance` of the gradient's length.
inline void ExpectGradient(const std::function<double(const std::vector<float>&)>& loss,
                           const std::vector<float>& at, const std::vector<float>& gradient,
                           float step, double tolerance) {
  ASSERT_EQ(at.size(), gradient.size());
  const double length = std::sqrt(Dot(gradient, gradient));
  ASSERT_GT(length, 0) << "nothing to compare";
  for (uint64_t seed = 0; seed < 3; ++seed) {
    // Half of it along the gradient, so that the compared values are not near 0.
    std::vector<float> direction = RandomValues(at.size(), 100 + seed);
    const double random_length = std::sqrt(Dot(direction, direction));
    for (size_t i = 0; i < at.size(); ++i) {
      direction[i] = static_cast<float>(direction[i] / random_length + gradient[i] / length);
    }
    std::vector<float> ahead = at, behind = at;
    for (size_t i = 0; i < at.size(); ++i) {
      ahead[i] += step * direction[i];
      behind[i] -= step * direction[i];
    }
    // The value after rounding.
    std::vector<float> moved(at.size());
    for (size_t i = 0; i < at.size(); ++i) moved[i] = ahead[i] - behind[i];
    const double expected = Dot(moved, gradient);
    const double seen = loss(ahead) - loss(behind);
    EXPECT_TRUE(std::abs(seen - expected) <= tolerance * length * 2 * step)
        << "along direction " << seed << ": " << seen << " instead of " << expected;
  }
}

}  // namespace recpack::train

// Per-channel arithmetic between the passes of batch normalisation, for the host and for devices.
// Formulas: Ioffe and Szegedy, "Batch normalization", 2015.
#pragma once

#include <cmath>

#include "kernels/finish.h"

namespace recpack {

struct NormStatistics {
  float mean = 0;
  float inverse_std = 0;
  double unbiased = 0;  // variance with divisor count - 1
};

// Computes the statistics from the sums of (x - shift) and (x - shift)^2 over `count` values.
// Propagates NaN, so that it is detected where it arose.
RECPACK_HOST_DEVICE inline NormStatistics ComputeNormStatistics(double sum, double squares,
                                                                double count, float shift,
                                                                float epsilon) {
  const double first = sum / count;
  const double spread = squares / count - first * first;
  const double variance = spread < 0 ? 0 : spread;
  return {static_cast<float>(shift + first), static_cast<float>(1 / sqrt(variance + epsilon)),
          count > 1 ? variance * count / (count - 1) : variance};
}

RECPACK_HOST_DEVICE inline void MoveRunning(const NormStatistics& batch, float momentum,
                                            float* mean, float* variance) {
  const float keep = 1 - momentum;
  *mean = keep * *mean + momentum * batch.mean;
  *variance = keep * *variance + momentum * static_cast<float>(batch.unbiased);
}

RECPACK_HOST_DEVICE inline float RunningInverseStd(float variance, float epsilon) {
  return 1 / sqrtf(variance + epsilon);
}

// y = factor * x + term
struct NormLine {
  float factor = 0, term = 0;
};

RECPACK_HOST_DEVICE inline NormLine FoldNorm(float scale, float shift, float mean,
                                             float inverse_std) {
  const float factor = scale * inverse_std;
  return {factor, shift - mean * factor};
}

// dx = of_g * g + of_x * x + constant
struct NormPlane {
  float of_g = 0, of_x = 0, constant = 0;
};

// dx = scale / std * (g - sum(g) / n - xhat * sum(g * xhat) / n). `product`: the sum of
// g * (x - mean) over `count` values.
RECPACK_HOST_DEVICE inline NormPlane FoldNormGradient(double sum, double product, double count,
                                                      float scale, float mean, float inverse_std) {
  const double of_g = static_cast<double>(scale) * inverse_std;
  const double of_x = -of_g * (product * inverse_std) * inverse_std / count;
  return {static_cast<float>(of_g), static_cast<float>(of_x),
          static_cast<float>(-of_g * sum / count - of_x * mean)};
}

}  // namespace recpack

// Checks that a benched training stays finite: NaN takes other paths, and other times.
#pragma once

#include <cmath>
#include <stdexcept>

#include "src/train/ops/ops.h"
#include "src/train/ops/tensor.h"

namespace recpack::bench {

// Waits for the device. Throws if the sum of losses is not finite.
inline void CheckLoss(train::Ops& ops, const train::DeviceArray& sums) {
  train::LossSums loss;
  ops.Download(&loss, sums.data(), sizeof loss);
  if (!std::isfinite(loss.loss)) throw std::runtime_error("the training diverged: lower the rate");
}

}  // namespace recpack::bench

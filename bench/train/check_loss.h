// Holds a bench to numbers: what is no number takes other paths, and other times.
#pragma once

#include <cmath>
#include <stdexcept>

#include "src/train/ops/ops.h"
#include "src/train/ops/tensor.h"

namespace recpack::bench {

// Waits for the device. Throws where the sum of losses is no number.
inline void CheckLoss(Ops& ops, const DeviceArray& sums) {
  LossSums loss;
  ops.Download(&loss, sums.data(), sizeof loss);
  if (!std::isfinite(loss.loss)) throw std::runtime_error("the training diverged: lower the rate");
}

}  // namespace recpack::bench

#include "src/train/run/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace recpack::train {

double LearningRate::At(int64_t step) const noexcept {
  if (step < warmup_steps) {
    return peak * static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
  }
  const auto left = static_cast<double>(std::max<int64_t>(1, steps - warmup_steps));
  const double share = std::min(1.0, static_cast<double>(step - warmup_steps) / left);
  return peak * 0.5 * (1 + std::cos(std::numbers::pi * share));
}

}  // namespace recpack::train

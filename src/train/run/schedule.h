// The learning rate over a training.
#pragma once

#include <cstdint>

namespace recpack::train {

// Rises in a line over the warm-up, then falls to 0 along half a cosine: Loshchilov and Hutter,
// "SGDR", 2017, without restarts.
struct LearningRate {
  double peak = 0.1;
  int64_t warmup_steps = 0;
  int64_t steps = 1;  // of the whole training

  // Of a step counted from 0; 0 from `steps` on.
  double At(int64_t step) const noexcept;
};

}  // namespace recpack::train

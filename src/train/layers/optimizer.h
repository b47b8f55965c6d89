// Optimizers: updates of trained variables, and the learning rate schedule.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/train/layers/strategy.h"

namespace recpack::train {

// For example "sgd".
const char* OptimizerName(OptimizerKind kind);

// Names of the values that an optimizer keeps per trained variable, in the order of
// UpdateValues()'s slots.
const std::vector<std::string>& SlotNames(const OptimizerOptions& options);

// The values that UpdateStep::rates points to.
UpdateRates ToRates(const OptimizerOptions& options, const UpdateStep& step);

// Called on any thread that may use `ops`. `decayed`: options.decay applies to this variable.
void UpdateValues(Ops& ops, const OptimizerOptions& options, const UpdateStep& step, bool decayed,
                  float* value, const float* gradient, std::span<float* const> slots, size_t count);

// Updates a variable on the device that holds it.
void UpdateVariable(Ops& ops, const Variables& variables, const OptimizerOptions& options,
                    const UpdateStep& step, size_t variable);

// Rises linearly during the warm-up, then follows half a cosine down to 0: Loshchilov and Hutter,
// "SGDR", 2017, without restarts.
struct LearningRate {
  double peak = 0.1;
  int64_t warmup_steps = 0;
  int64_t steps = 1;  // of the whole training

  // Learning rate of a step, counted from 0. Returns 0 from step `steps` on.
  double At(int64_t step) const noexcept;
};

}  // namespace recpack::train

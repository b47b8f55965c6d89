#include "src/train/layers/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace recpack::train {
namespace {

AdamUpdate ToAdamUpdate(const OptimizerOptions& options, const UpdateStep& step, float decay) {
  return {.rate = static_cast<float>(step.rate),
          .beta1 = static_cast<float>(options.momentum),
          .decay = decay,
          .step = step.number,
          .rates = step.rates};
}

}  // namespace

const char* OptimizerName(OptimizerKind kind) {
  return kind == OptimizerKind::kAdam ? "adam" : "sgd";
}

const std::vector<std::string>& SlotNames(const OptimizerOptions& options) {
  static const std::vector<std::string> sgd = {"momentum"};
  static const std::vector<std::string> adam = {"first_moment", "second_moment"};
  return options.kind == OptimizerKind::kAdam ? adam : sgd;
}

UpdateRates ToRates(const OptimizerOptions& options, const UpdateStep& step) {
  return ToRates(ToAdamUpdate(options, step, 0));
}

void UpdateValues(Ops& ops, const OptimizerOptions& options, const UpdateStep& step, bool decayed,
                  float* value, const float* gradient, std::span<float* const> slots,
                  size_t count) {
  const float decay = decayed ? static_cast<float>(options.decay) : 0.0F;
  if (options.kind == OptimizerKind::kAdam) {
    ops.Adam(ToAdamUpdate(options, step, decay), value, gradient, slots[0], slots[1], count);
  } else {
    ops.Sgd({.rate = static_cast<float>(step.rate),
             .momentum = static_cast<float>(options.momentum),
             .decay = decay,
             .rates = step.rates},
            value, gradient, slots[0], count);
  }
}

void UpdateVariable(Ops& ops, const Variables& variables, const OptimizerOptions& options,
                    const UpdateStep& step, size_t variable) {
  std::vector<float*> slots;
  for (size_t i = 0; i < SlotNames(options).size(); ++i) {
    slots.push_back(variables.Slot(static_cast<int>(i), variable));
  }
  UpdateValues(ops, options, step, variables.specs()[variable].decayed, variables.At(variable),
               variables.Gradient(variable), slots, variables.size(variable));
}

double LearningRate::At(int64_t step) const noexcept {
  if (step < warmup_steps) {
    return peak * static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
  }
  const auto left = static_cast<double>(std::max<int64_t>(1, steps - warmup_steps));
  const double share = std::min(1.0, static_cast<double>(step - warmup_steps) / left);
  return peak * 0.5 * (1 + std::cos(std::numbers::pi * share));
}

}  // namespace recpack::train

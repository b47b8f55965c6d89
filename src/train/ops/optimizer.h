// One update of trained variables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/train/ops/strategy.h"

namespace recpack::train {

// "sgd".
const char* OptimizerName(OptimizerKind kind);

// What an optimizer keeps of each trained variable, in the order of Update()'s slots.
const std::vector<std::string>& SlotNames(const OptimizerOptions& options);

// What UpdateStep::rates points to.
UpdateRates RatesOf(const OptimizerOptions& options, const UpdateStep& step);

// By any thread that may use `ops`. `decayed`: whether options.decay is for this variable.
void UpdateValues(Ops& ops, const OptimizerOptions& options, const UpdateStep& step, bool decayed,
                  float* value, const float* gradient, std::span<float* const> slots, size_t count);

// A variable where it lies.
void UpdateVariable(Ops& ops, const Variables& variables, const OptimizerOptions& options,
                    const UpdateStep& step, size_t variable);

}  // namespace recpack::train

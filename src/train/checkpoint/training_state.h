// What a checkpoint holds of a tower.
#pragma once

#include <string>
#include <vector>

#include "src/train/checkpoint/checkpoint.h"
#include "src/train/ops/strategy.h"

namespace recpack::train {

// Variables, statistics and the optimizer's slots in the host's memory.
class TrainingState {
 public:
  // Names, types and shapes, with memory for them. `slots`: of the optimizer (SlotNames()).
  explicit TrainingState(const Variables& variables, const std::vector<std::string>& slots = {});

  // After VariableStrategy::Settle().
  void Read(const Variables& variables, VariableStrategy& strategy);
  // Of variables and statistics alone. `arrays`: begins as arrays() does.
  static void WriteVariables(const std::vector<NamedArray>& arrays, const Variables& variables);
  // Before the first step. `arrays`: as arrays() has them.
  static void Write(const std::vector<NamedArray>& arrays, const Variables& variables,
                    VariableStrategy& strategy);

  const std::vector<NamedArray>& arrays() const noexcept { return arrays_; }

 private:
  std::vector<std::vector<float>> values_;
  std::vector<NamedArray> arrays_;  // of all variables, then slot by slot those of the trained ones
};

}  // namespace recpack::train

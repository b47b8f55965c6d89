// Host copy of a tower's state, as checkpoints store it.
#pragma once

#include <string>
#include <vector>

#include "src/train/checkpoint/checkpoint.h"
#include "src/train/layers/strategy.h"

namespace recpack::train {

// Variables, statistics and optimizer slots in host memory.
class TrainingState {
 public:
  // Allocates arrays with names, types and shapes. `slots`: the optimizer's (SlotNames()).
  explicit TrainingState(const Variables& variables, const std::vector<std::string>& slots = {});

  // Copies from the device. Call after VariableStrategy::Settle().
  void Read(const Variables& variables, VariableStrategy& strategy);
  // Writes variables and statistics only. `arrays`: begins like arrays().
  static void WriteVariables(const std::vector<NamedArray>& arrays, const Variables& variables);
  // Writes everything, before the first step. `arrays`: like arrays().
  static void Write(const std::vector<NamedArray>& arrays, const Variables& variables,
                    VariableStrategy& strategy);

  const std::vector<NamedArray>& arrays() const noexcept { return arrays_; }

 private:
  std::vector<std::vector<float>> values_;
  // all variables, then for each slot those of the trained variables
  std::vector<NamedArray> arrays_;
};

}  // namespace recpack::train

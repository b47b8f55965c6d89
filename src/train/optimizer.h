// One update of trained variables.
#pragma once

#include "recpack/train/strategy.h"

namespace recpack {

// Stochastic gradient descent with momentum, in slot 0, of one variable.
inline void UpdateVariable(Ops& ops, const Variables& variables, const OptimizerOptions& options,
                           double rate, size_t variable) {
  const bool decayed = variables.specs()[variable].decayed;
  ops.Sgd({.rate = static_cast<float>(rate),
           .momentum = static_cast<float>(options.momentum),
           .decay = decayed ? static_cast<float>(options.decay) : 0.0F},
          variables.At(variable), variables.Gradient(variable), variables.Slot(0, variable),
          variables.size(variable));
}

}  // namespace recpack

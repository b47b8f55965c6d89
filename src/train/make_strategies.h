// Strategies by their names.
#pragma once

#include <memory>
#include <vector>

#include "recpack/train/trainer.h"

namespace recpack {

// One for each device of the options.
std::vector<std::unique_ptr<VariableStrategy>> MakeStrategies(const TrainerOptions& options);

}  // namespace recpack

// Makes the strategies that the options name.
#pragma once

#include <memory>
#include <vector>

#include "src/train/setup/trainer_options.h"
#include "src/train/world/process_world.h"

namespace recpack::train {

// One per tower of this process. `sums_on_devices`: GradientSums::on_devices.
std::vector<std::unique_ptr<VariableStrategy>> MakeStrategies(const TrainerOptions& options,
                                                              const ProcessWorld& world,
                                                              bool sums_on_devices);

}  // namespace recpack::train

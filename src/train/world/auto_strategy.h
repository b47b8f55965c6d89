// Replaces the strategy `auto` by the one chosen for the model and the devices.
#pragma once

#include "src/train/setup/trainer_options.h"
#include "src/train/world/process_world.h"

namespace recpack::train {

// `options`: complete. Unchanged unless the strategy is kAuto; a notice says what was chosen and
// why. Collective over all processes, with the same result in each. Throws Error: kInvalidArgument
// if processes have different strategies, or for asynchronous updates; kDevice if a GPU fails.
TrainerOptions WithStrategy(TrainerOptions options, const ProcessWorld& world,
                            const TrainerNotice& notice);

}  // namespace recpack::train

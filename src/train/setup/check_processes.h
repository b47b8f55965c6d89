// What several processes can train, and with which options.
#pragma once

#include "src/train/setup/process_world.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// `options`: complete. Of one process alone, nothing is refused. Throws Error: kUnsupported for
// what only one can train; kInvalidArgument where the options are not those of the first process.
void CheckProcesses(const TrainerOptions& options, const ProcessWorld& world);

}  // namespace recpack::train

// Checks the options of a training by several processes.
#pragma once

#include "src/train/setup/trainer_options.h"
#include "src/train/world/process_world.h"

namespace recpack::train {

// `options`: complete. A single process is always accepted. Throws Error: kUnsupported for what
// several processes cannot train; kInvalidArgument if the options differ from the first process's.
void CheckProcesses(const TrainerOptions& options, const ProcessWorld& world);

}  // namespace recpack::train

// Accelerators that one does not have.
#pragma once

#include <functional>
#include <vector>

#include "recpack/device/feeder.h"
#include "src/train/run/trainer.h"

namespace recpack::train {

// Takes the batches as devices would that need options.devices[i].step_time a step, and no
// processor: what they wait is what the loader owes them. Reports each epoch.
void RunSimulated(const TrainerOptions& options, DeviceFeeder& feeder,
                  const std::function<void(const EpochReport&)>& report);

// Of options.timing, on such devices.
std::vector<StepTiming> TimeSimulated(const TrainerOptions& options, DeviceFeeder& feeder);

}  // namespace recpack::train

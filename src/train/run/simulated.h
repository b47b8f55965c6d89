// Simulated accelerators: each step sleeps for a fixed time.
#pragma once

#include <functional>
#include <vector>

#include "recpack/device/feeder.h"
#include "src/train/run/trainer.h"

namespace recpack::train {

// Consumes batches like devices that take options.devices[i].step_time per step and no processor
// time, so all waiting is caused by the loader. Reports each epoch.
void RunSimulated(const TrainerOptions& options, DeviceFeeder& feeder,
                  const std::function<void(const EpochReport&)>& report);

// Times steps on such devices, as options.timing describes.
std::vector<StepTiming> TimeSimulated(const TrainerOptions& options, DeviceFeeder& feeder);

}  // namespace recpack::train

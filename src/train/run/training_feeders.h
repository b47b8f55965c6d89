// What brings a training its batches.
#pragma once

#include <memory>
#include <string>

#include "recpack/device/feeder.h"
#include "src/train/checkpoint/checkpoint.h"
#include "src/train/run/trainer.h"
#include "src/train/setup/process_world.h"

namespace recpack::train {

// For this process's towers: together all processes have the batches that one would have with as
// many devices, in that order.

// Of the split that is trained on. `begin`: where the run begins; by itself the data's beginning.
// `notice`, if any, hears what the user should know of the data.
// Throws Error: what opening the data throws; kInvalidArgument where an epoch has no batch for each
// device.
std::unique_ptr<DeviceFeeder> TrainingFeeder(const TrainerOptions& options,
                                             const ProcessWorld& world,
                                             const CheckpointInfo& begin = {},
                                             const TrainerNotice& notice = {});

// Every sample once, in order; the last batches are padded. Throws Error (kNotFound) where there is
// no split to evaluate on.
std::unique_ptr<DeviceFeeder> EvaluationFeeder(const TrainerOptions& options,
                                               const ProcessWorld& world);

}  // namespace recpack::train

// Makes the feeders that read a training's batches.
#pragma once

#include <memory>
#include <string>

#include "recpack/device/feeder.h"
#include "src/train/checkpoint/checkpoint.h"
#include "src/train/run/trainer.h"
#include "src/train/world/process_world.h"

namespace recpack::train {

// For this process's towers. Together, the processes get the batches that a single process with as
// many devices would get, in the same order.

// Reads the training split. `begin`: start of the run; default: the beginning of the data.
// `notice`: receives messages for the user about the data. `epochs`: as in LoaderOptions.
// Throws Error: errors of opening the data; kInvalidArgument if an epoch has no batch for each
// device.
std::unique_ptr<DeviceFeeder> TrainingFeeder(const TrainerOptions& options,
                                             const ProcessWorld& world,
                                             const CheckpointInfo& begin = {},
                                             const TrainerNotice& notice = {}, uint64_t epochs = 0);

// Reads every sample once, in order; the last batches are padded. Throws Error (kNotFound) if there
// is no evaluation split.
std::unique_ptr<DeviceFeeder> EvaluationFeeder(const TrainerOptions& options,
                                               const ProcessWorld& world);

}  // namespace recpack::train

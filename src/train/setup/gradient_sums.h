// Where the gradients of several devices are summed.
#pragma once

#include <string>

#include "src/train/setup/process_world.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

struct GradientSums {
  bool on_devices = false;  // by TrainerOptions::between_gpus; else in the host's memory
  std::string text;         // that, and why; empty where there is no GPU, or nothing to sum
};

// Of whole models on each device. All processes call it at once, and it is the same for all. Throws
// Error (kUnsupported) where SumPlace::kGpus was asked for and cannot be.
GradientSums ChooseGradientSums(const TrainerOptions& options, const ProcessWorld& world);

}  // namespace recpack::train

// Chooses where the gradients of several devices are summed: on the GPUs or on the host.
#pragma once

#include <string>

#include "src/train/setup/trainer_options.h"
#include "src/train/world/process_world.h"

namespace recpack::train {

struct GradientSums {
  bool on_devices = false;  // by TrainerOptions::between_gpus; else in host memory
  // the choice and its reason; empty if there is no GPU, or nothing to sum
  std::string text;
};

// Returns why TrainerOptions::between_gpus cannot sum gradients of the devices of all processes;
// empty: it can. Collective over all processes, with the same result in each.
std::string WhyNoGpuSums(const TrainerOptions& options, const ProcessWorld& world);

// For strategies with a whole model per device. Collective over all processes, with the same result
// in each. Throws Error (kUnsupported) if SumPlace::kGpus was requested and is impossible.
GradientSums ChooseGradientSums(const TrainerOptions& options, const ProcessWorld& world);

}  // namespace recpack::train

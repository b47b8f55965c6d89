// Checks whether the steps of a training can be captured once and replayed.
#pragma once

#include <string>

#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// Returns why steps cannot be captured; empty: they can. `towers`: in all processes.
std::string WhyNotRepeated(const TrainerOptions& options, size_t towers);

// Number of steps per CUDA graph launch: the steps of a dispatch, or a divisor of their number, if
// the host takes no part in them; else 1. The device then holds that many batches.
size_t StepsAtOnce(const TrainerOptions& options, size_t towers);

// Describes how steps are launched, if not operation by operation and step by step, or if that is
// unexpected: "; a step is a CUDA graph", ", 4 steps a dispatch".
std::string DescribeSteps(const TrainerOptions& options, size_t towers);

}  // namespace recpack::train

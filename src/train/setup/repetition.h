// Whether the steps of a training can be captured once and repeated.
#pragma once

#include <string>

#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// Empty: they can. Else why not. `towers`: of all processes.
std::string WhyNotRepeated(const TrainerOptions& options, size_t towers);

// How many steps a device is told of at once, as one CUDA graph: the steps of a dispatch, or a part
// of them that goes into their number, where the host has no part in them. The device then holds as
// many batches.
size_t StepsAtOnce(const TrainerOptions& options, size_t towers);

// How steps come to the devices, where that is not operation by operation and step by step, or
// where one would think so: "; a step is a CUDA graph", ", 4 steps a dispatch".
std::string DescribeSteps(const TrainerOptions& options, size_t towers);

}  // namespace recpack::train

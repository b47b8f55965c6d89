// Trainings that a command does one after the other.
#pragma once

#include <cstddef>
#include <vector>

#include "recpack/probe/steps.h"

namespace recpack {

// Trainers that run at the same time are one training, with all that do so with either. Of several
// trainings that which takes longest is left, the last one of these. Returns how many were left
// out.
size_t LeaveOutOtherTrainings(std::vector<TrainerSteps>& trainers);

}  // namespace recpack

// Trainings that a command does one after the other.
#pragma once

#include <cstdint>

#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

enum class Training : uint8_t {
  kLongest,  // of those that told of steps, where any did; the last one of the same length
  kLatest,   // that began last: the one that goes on
};

// Leaves the trainers of one training, and says so in the notes. Trainers that run at the same time
// are one training, with all that do so with either; of a training that was started again (ranks of
// torch.distributed in other processes) the last start is left.
void LeaveOneTraining(Training which, Evidence& evidence);

}  // namespace recpack::probe

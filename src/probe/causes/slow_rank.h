// The one of several trainers that the others wait for.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "src/probe/steps/steps.h"

namespace recpack::probe {

// Of the trainer's time.
double ShareOfTime(const TrainerSteps& trainer, int64_t StepRecord::*what);

struct SlowRank {
  size_t rank = 0;    // index of the trainer
  double own = 0;     // of its time that it waited for others
  double others = 0;  // the same of these, on average
  bool much = false;  // others wait for it so long that it is worth a look
};

// Index of the trainer whose waits for input are the greatest share of its time. `trainers` is not
// empty.
size_t WaitsLongest(const std::vector<TrainerSteps>& trainers);

// The trainer that waits least for others. Nothing where trainers do not go in step.
std::optional<SlowRank> SlowestOf(const std::vector<TrainerSteps>& trainers);

}  // namespace recpack::probe

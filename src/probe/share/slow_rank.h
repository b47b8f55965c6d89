// Finds the trainer that the others wait for.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "src/probe/steps/steps.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Share of the trainer's step time that `what` takes.
double ShareOfTime(const TrainerSteps& trainer, int64_t StepRecord::*what);

// A trainer's wait for its input beside that of several others.
struct InputWait {
  size_t trainer = 0;  // its index
  double own = 0;      // share of its time in which it waits
  double others = 0;   // the same share of the others, on average
  bool alone = false;  // the others wait much less
};

struct SlowRank {
  size_t rank = 0;    // index of the trainer
  double own = 0;     // share of its time in which it waits for others
  double others = 0;  // the same share of the others, on average
  bool much = false;  // the others wait long enough for it to matter
};

// Index of the trainer with the largest share of input waits. `trainers` must not be empty.
size_t WaitsLongest(const std::vector<TrainerSteps>& trainers);

// How long one of at least two trainers waits for its input, and the others for theirs.
InputWait CompareInputWait(const std::vector<TrainerSteps>& trainers, size_t trainer);

// The same of the one that waits longest.
InputWait FindLongestWait(const std::vector<TrainerSteps>& trainers);

// The slow one of at least two, by the shares of their time in which they wait for others.
SlowRank WaitsLeast(const std::vector<double>& waits);

// The trainer that waits least for others. Returns nullopt if the trainers do not run in lockstep.
std::optional<SlowRank> FindSlowRank(const std::vector<TrainerSteps>& trainers);

// Breakdown of the trainer that the others wait for, if there is one: their waits are not part of
// it. Otherwise that of all of them.
Breakdown StepParts(const std::vector<TrainerSteps>& trainers, const Verdict& verdict);

}  // namespace recpack::probe

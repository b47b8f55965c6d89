// Combines the steps of several trainers into one series.
#pragma once

#include <vector>

#include "src/probe/steps/steps.h"
#include "src/probe/util/estimate.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Drops the first steps of each trainer, in which programs warm up: a twentieth of the shortest
// trainer's steps, at least 1, at most 10. Returns their number.
size_t DropWarmUp(std::vector<TrainerSteps>& trainers);

// Input waits and durations of trainers that do not wait for each other: the sums over all first
// steps, over all second steps, and so on. Trainers may wait for the same loader, so their steps at
// the same place are not independent observations.
std::vector<Part> SumsOfWaits(const std::vector<TrainerSteps>& trainers);

// Cost of input and duration of each step, for trainers that run in lockstep. A step ends when the
// last trainer has finished; its cost is how much earlier that would be without input waits. A wait
// that another trainer's work hides costs nothing. Empty if the trainers have no step numbers in
// common.
std::vector<Part> WaitsOfSteps(const std::vector<TrainerSteps>& trainers);

// The same for ranks whose exchanges are not observed: per step number, the wait of the rank that
// waits longest, which all others wait for. An upper bound: the cost is lower if another rank
// computes for longer. Empty if the ranks have no step numbers in common.
std::vector<Part> LongestWaitsOfSteps(const std::vector<TrainerSteps>& trainers);

// Breakdown of the mean step over all trainers.
Breakdown MeanBreakdown(const std::vector<TrainerSteps>& trainers);

// Tells whether there are several trainers and all of them report exchanges.
bool RunInLockstep(const std::vector<TrainerSteps>& trainers);

}  // namespace recpack::probe

// The steps of several trainers that go together.
#pragma once

#include <vector>

#include "recpack/probe/estimate.h"
#include "recpack/probe/steps.h"
#include "recpack/probe/verdict.h"

namespace recpack {

// Those at the beginning, in which programs warm up, are left out: a twentieth, at least 1, at most
// 10 of each trainer. Returns how many.
size_t LeaveOutWarmUp(std::vector<TrainerSteps>& trainers);

// What input costs each step, and the step's duration. Trainers that exchange values go in step:
// the step of all is ready when the last one is, and without input waits it would be so when the
// last of those is, so that a wait which another one's work hides costs nothing. Of others the sums
// of the first steps, of the second ones, and so on.
std::vector<Part> WaitsOfSteps(const std::vector<TrainerSteps>& trainers);

// The same of ranks that go in step by exchanges that nobody tells of: by the number of the step,
// the wait of the one that waits longest, which all others wait for. An upper bound: where another
// one computes for longer it costs less. Empty where they count no steps alike.
std::vector<Part> LongestWaitsOfSteps(const std::vector<TrainerSteps>& trainers);

// Of all their steps.
Breakdown BreakdownOf(const std::vector<TrainerSteps>& trainers);

bool GoInStep(const std::vector<TrainerSteps>& trainers);

}  // namespace recpack

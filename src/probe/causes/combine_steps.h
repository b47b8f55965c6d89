// The steps of several trainers that go together.
#pragma once

#include <vector>

#include "src/probe/steps/steps.h"
#include "src/probe/util/estimate.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Those at the beginning, in which programs warm up, are left out: a twentieth, at least 1, at most
// 10 of each trainer. Returns how many.
size_t LeaveOutWarmUp(std::vector<TrainerSteps>& trainers);

// Waits for input and durations, of trainers that do not wait for each other: the sums of the first
// steps, of the second ones, and so on. What they wait for may be the same, so that steps at the
// same place are no two observations.
std::vector<Part> SumsOfWaits(const std::vector<TrainerSteps>& trainers);

// What input costs each step, and the step's duration, of trainers that go in step: the step of all
// is ready when the last one is, and without input waits it would be so when the last of those is,
// so that a wait which another one's work hides costs nothing. Empty where they count no steps
// alike.
std::vector<Part> WaitsOfSteps(const std::vector<TrainerSteps>& trainers);

// The same of ranks that go in step by exchanges that nobody tells of: by the number of the step,
// the wait of the one that waits longest, which all others wait for. An upper bound: where another
// one computes for longer it costs less. Empty where they count no steps alike.
std::vector<Part> LongestWaitsOfSteps(const std::vector<TrainerSteps>& trainers);

// Of all their steps.
Breakdown BreakdownOf(const std::vector<TrainerSteps>& trainers);

// Whether they exchange values and tell of it.
bool GoInStep(const std::vector<TrainerSteps>& trainers);

}  // namespace recpack::probe

// What a trainer's devices did in its steps.
#pragma once

#include "src/probe/steps/sorted_events.h"
#include "src/probe/steps/steps.h"
#include "src/probe/util/intervals.h"

namespace recpack::probe {

// Of the trainer's device, or of all of its process where it names none: what they did within each
// step, or what kept them from work. `waits`, `exchanges`: of the trainer's thread.
void AccountDevices(const Intervals& waits, const Intervals& exchanges, const SortedEvents& sorted,
                    TrainerSteps& trainer);

}  // namespace recpack::probe

// Accounts a trainer's device time to its steps.
#pragma once

#include "src/probe/steps/sorted_events.h"
#include "src/probe/steps/steps.h"
#include "src/probe/util/intervals.h"

namespace recpack::probe {

// Fills each step with the work of the trainer's device, or of all devices of its process if it
// names none, and with the reasons for their idle time. `waits`, `exchanges`: of the trainer's
// thread.
void AccountDevices(const Intervals& waits, const Intervals& exchanges, const SortedEvents& sorted,
                    TrainerSteps& trainer);

}  // namespace recpack::probe

// Main figure of a verdict: the share of step time in input waits that no device work covers.
#pragma once

#include "src/probe/evidence/evidence.h"
#include "src/probe/steps/steps.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Tells whether there are accelerators whose work was not observed.
bool DevicesAreUnseen(const Evidence& evidence, const std::vector<TrainerSteps>& trainers);

// Tells whether calls for batches were seen, in every trainer or, for hidden ranks, in any of them:
// one rank may take the batches of all and pass them on.
bool WaitsAreSeen(const Evidence& evidence, const std::vector<TrainerSteps>& trainers);

// Tells whether batches may be taken by a thread that prefetches for the training. The training
// then waits at most as long as that thread.
bool MayBeFetchedAhead(const std::vector<TrainerSteps>& trainers);

// Sets the share with its interval, adds notes about what contradicts it, and marks it as an upper
// bound if hidden ranks or a prefetching thread may cover waits. `trainers`: without warm-up steps.
void EstimateInputShare(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                        Verdict& verdict);

}  // namespace recpack::probe

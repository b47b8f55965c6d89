// The main figure: the share of step time that waits for input take and no device work covers.
#pragma once

#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Whether there are accelerators of whose work nobody told.
bool DevicesAreUnseen(const Evidence& evidence, const std::vector<TrainerSteps>& trainers);

// Whether calls for batches were seen: of ranks that train together, where one takes the batches of
// others and passes them on, of any.
bool WaitsAreSeen(const Evidence& evidence, const std::vector<TrainerSteps>& trainers);

// Whether a thread may take batches ahead for the training, which waits for as much as it or less.
bool MayBeFetchedAhead(const std::vector<TrainerSteps>& trainers);

// Sets the share, its interval, that it is an upper bound where ranks, or a thread, hide what waits
// cost, and notes of what stands against it. `trainers`: those that count, without the steps in
// which they warmed up.
void EstimateInputShare(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                        Verdict& verdict);

}  // namespace recpack::probe

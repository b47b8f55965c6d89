// Where a training loses its time.
#pragma once

#include "recpack/probe/verdict.h"

namespace recpack {

// Sets place, rank, evidence and cure from the band, the breakdown and what was seen.
void FindPlace(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
               Verdict& verdict);

}  // namespace recpack

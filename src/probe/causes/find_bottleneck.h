// Where a training loses its time.
#pragma once

#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Sets bottleneck, rank, evidence and cure from the band, the breakdown and what was seen.
void FindBottleneck(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                    Verdict& verdict);

}  // namespace recpack::probe

// Where the input of a training loses its time.
#pragma once

#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Of a training that waits for input: sets bottleneck and evidence by what the loader's workers do,
// else by what threads and disks do.
void FindInputPlace(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                    Verdict& verdict);

}  // namespace recpack::probe

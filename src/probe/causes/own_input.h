// Selects what is known of the input of the rank that waits longest for it.
#pragma once

#include <vector>

#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

// Returns the trainer of several ranks that waits longest for its input, if the others wait much
// less, and if it is known which lines and input threads are its own; nullptr otherwise.
const TrainerSteps* FindSlowestInput(const Evidence& evidence,
                                     const std::vector<TrainerSteps>& trainers);

// Returns the evidence with the lines and input threads of a trainer alone, which
// FindSlowestInput() found: of many ranks, the workers of the others would hide what those of one
// do.
Evidence WithInputOf(const TrainerSteps& trainer, const Evidence& evidence);

}  // namespace recpack::probe

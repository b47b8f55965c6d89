// Selects what is known of the input of the trainer that waits longest for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

// Returns the evidence with the lines and input threads of that trainer alone: of many ranks, the
// workers of the others would hide what one rank's workers do. Returns nullopt where one process
// trains, none waits much, or it is not known whose workers are whose. `trainers`: without their
// first steps. Adds a note that says so to `notes`.
std::optional<Evidence> OfSlowestInput(const Evidence& evidence,
                                       const std::vector<TrainerSteps>& trainers,
                                       std::vector<std::string>& notes);

}  // namespace recpack::probe

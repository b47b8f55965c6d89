// Finds waits of devices for each other that look like waits for input.
#pragma once

#include <string>
#include <vector>

#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

// Devices of one process may take their batches from one recpack loader in turn. If one of them is
// slow, the others wait for batches that the loader has had ready: for that device. Counts such
// waits as exchange. Returns a note about it; empty if there are none.
std::string CountWaitsForSlowDevice(const Evidence& evidence, std::vector<TrainerSteps>& trainers);

}  // namespace recpack::probe

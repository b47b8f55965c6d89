// Finds steps by the named ranges of a program (NVTX).
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "src/probe/events/event_reader.h"

namespace recpack::probe {

// Returns the steps of each process by the process and the lane of its training thread, one thread
// per process. A step goes from the begin of one range to the begin of the next; steps are numbered
// from 0. See FindSteps() for which ranges count.
std::map<std::pair<int, uint32_t>, std::vector<Event>> MarkedSteps(
    const std::vector<TimedEvent>& events);

}  // namespace recpack::probe

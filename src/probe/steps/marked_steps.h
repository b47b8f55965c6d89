// Steps by the ranges that a program names (NVTX).
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "src/probe/events/event_reader.h"

namespace recpack::probe {

// Of each process the ranges that look like its steps, by the process and the lane of the thread
// that names them; one thread each. From the beginning of one to that of the next, numbered from 0.
// steps.h says which they are.
std::map<std::pair<int, uint32_t>, std::vector<Event>> MarkedSteps(
    const std::vector<TimedEvent>& events);

}  // namespace recpack::probe

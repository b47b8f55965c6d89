// Settings of the programs' inputs, as far as traces of other profilers tell them.
#pragma once

#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

// PyTorch's profiler names the class of a DataLoader's iterator, which says whether it has workers.
std::vector<InputSettings> FindTracedSettings(const std::vector<TimedEvent>& events);

}  // namespace recpack::probe

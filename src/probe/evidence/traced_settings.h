// Settings of the programs' inputs, as far as traces of other profilers tell them.
#pragma once

#include <map>
#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

// PyTorch's profiler names the class of a DataLoader's iterator, which says whether it has workers.
// Not thread-safe.
class TracedSettings {
 public:
  void Add(const std::vector<TimedEvent>& events);
  std::vector<InputSettings> All() const;  // by process

 private:
  std::map<int, InputSettings> found_;  // by process
};

}  // namespace recpack::probe

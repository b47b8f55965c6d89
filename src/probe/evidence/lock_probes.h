// What the hook in Python programs tells of the interpreter lock.
#pragma once

#include <map>
#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

class LockProbes {
 public:
  void Add(const std::vector<TimedEvent>& events);
  std::vector<LockUse> Uses() const;

 private:
  std::map<int, LockUse> uses_;  // by process; `held` is a sum of seconds here
};

}  // namespace recpack::probe

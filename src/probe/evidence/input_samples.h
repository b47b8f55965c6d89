// What the hook in Python programs tells of the threads that make the input.
#pragma once

#include <map>
#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

class InputSamples {
 public:
  void Add(const std::vector<TimedEvent>& events);
  std::vector<InputWork> Works() const;

 private:
  // By process; `threads` and `waiting` are sums of seconds here. Kinds of one time lie side by
  // side: it counts once.
  struct Sums {
    InputWork work;
    int64_t until = INT64_MIN;
  };
  std::map<int, Sums> sums_;
};

}  // namespace recpack::probe

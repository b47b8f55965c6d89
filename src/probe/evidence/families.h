// Collector of the processes that Python programs start, and for which trainer they work.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "src/probe/events/event_reader.h"

namespace recpack::probe {

// Takes bounded memory. Not thread-safe.
class Families {
 public:
  // Must see the events before samples of lines are taken out of them.
  void Add(const std::vector<TimedEvent>& events);

  // Returns the process by whose number samples are kept: a trainer's own, else that of the process
  // which started it; 0 for all others together.
  int HeadOf(int process) const;

  // Returns the nearest trainer among the process and those that started it; 0 if there is none.
  int TrainerOf(int process) const;

  // Returns the processes whose training thread was sampled.
  const std::set<int>& trainers() const noexcept { return trainers_; }

 private:
  std::map<int, int> starters_;  // by process
  std::set<int> trainers_;
};

}  // namespace recpack::probe

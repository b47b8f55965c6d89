// Finds steps in a stream of events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/steps/kept_steps.h"
#include "src/probe/steps/steps.h"

namespace recpack::probe {

// Drops events once they are accounted for, and of many steps some (KeptSteps), so that a training
// may run for any time. Not thread-safe.
class StepCollector {
 public:
  // `most_events`: the number of events from which on they are accounted for.
  explicit StepCollector(size_t most_events = 200'000) : most_events_(most_events) {}

  void Add(std::vector<TimedEvent> events);
  // Returns all trainers with at most `most_steps` latest steps each.
  std::vector<TrainerSteps> Trainers(int64_t now, size_t most_steps = SIZE_MAX) const;
  // Returns the number of events that are not accounted for yet.
  size_t pending() const noexcept { return pending_.size(); }

 private:
  void Settle();
  void ForgetOlder();

  const size_t most_events_;
  size_t settle_at_ = most_events_;
  std::vector<TimedEvent> pending_;
  std::vector<KeptSteps> settled_;
};

}  // namespace recpack::probe

// Detects that a training program still runs but has stopped writing events.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

// Not thread-safe.
class SilenceDetector {
 public:
  void AddEvents(const std::vector<TimedEvent>& events);
  // `processes`: those that exist at `now` (CLOCK_MONOTONIC, ns).
  void AddProcesses(const std::vector<ProcessSample>& processes, int64_t now);

  // Returns the time from the last event of these trainers' processes until one of the processes
  // was last seen running. Returns nullopt if they ended before that.
  std::optional<Silence> Find(const std::vector<TrainerSteps>& trainers) const;

 private:
  std::map<int, int64_t> last_event_, last_seen_;            // by process
  std::map<std::pair<int, uint32_t>, int64_t> open_inputs_;  // input waits, by process and lane
};

}  // namespace recpack::probe

#include "src/probe/evidence/silence.h"

#include <algorithm>

#include "src/probe/events/hook_ranges.h"

namespace recpack::probe {

void SilenceDetector::AddEvents(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& timed : events) {
    if (IsHookRange(timed)) continue;  // the hook's own threads keep writing
    const Event& event = timed.event;
    int64_t& last = last_event_[timed.process];
    last = std::max({last, event.begin, event.end});
    if (event.kind != EventKind::kInputWait) continue;
    if (event.open) {
      open_inputs_[{timed.process, event.lane}] = event.begin;
    } else {
      open_inputs_.erase({timed.process, event.lane});
    }
  }
}

void SilenceDetector::AddProcesses(const std::vector<ProcessSample>& processes, int64_t now) {
  for (const ProcessSample& process : processes) {
    if (process.state != 'Z' && process.state != 'X') last_seen_[process.process] = now;
  }
}

std::optional<Silence> SilenceDetector::Find(const std::vector<TrainerSteps>& trainers) const {
  Silence silence;
  for (const TrainerSteps& trainer : trainers) {
    const auto event = last_event_.find(trainer.process);
    const auto seen = last_seen_.find(trainer.process);
    if (event == last_event_.end() || seen == last_seen_.end()) continue;
    silence.since = std::max(silence.since, event->second);
    silence.until = std::max(silence.until, seen->second);
    silence.in_input |=
        std::any_of(open_inputs_.begin(), open_inputs_.end(),
                    [&](const auto& input) { return input.first.first == trainer.process; });
  }
  if (silence.until <= silence.since) return {};
  return silence;
}

}  // namespace recpack::probe

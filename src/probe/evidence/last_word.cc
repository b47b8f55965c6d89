#include "src/probe/evidence/last_word.h"

#include <algorithm>

#include "src/probe/events/hook_ranges.h"

namespace recpack::probe {

void LastWord::Add(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& timed : events) {
    if (IsOfTheHook(timed)) continue;  // its own threads live on
    const Event& event = timed.event;
    int64_t& last = told_[timed.process];
    last = std::max({last, event.begin, event.end});
    if (event.kind != EventKind::kInputWait) continue;
    if (event.open) {
      inputs_[{timed.process, event.lane}] = event.begin;
    } else {
      inputs_.erase({timed.process, event.lane});
    }
  }
}

void LastWord::Saw(const std::vector<ProcessSample>& processes, int64_t now) {
  for (const ProcessSample& process : processes) {
    if (process.state != 'Z' && process.state != 'X') seen_[process.process] = now;
  }
}

std::optional<Silence> LastWord::Since(const std::vector<TrainerSteps>& trainers) const {
  Silence silence;
  for (const TrainerSteps& trainer : trainers) {
    const auto told = told_.find(trainer.process);
    const auto seen = seen_.find(trainer.process);
    if (told == told_.end() || seen == seen_.end()) continue;
    silence.since = std::max(silence.since, told->second);
    silence.until = std::max(silence.until, seen->second);
    silence.in_input |= std::any_of(inputs_.begin(), inputs_.end(), [&](const auto& input) {
      return input.first.first == trainer.process;
    });
  }
  if (silence.until <= silence.since) return {};
  return silence;
}

}  // namespace recpack::probe

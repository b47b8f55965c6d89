#include "src/probe/evidence/lock_probes.h"

#include <algorithm>

#include "src/probe/events/hook_ranges.h"

namespace recpack::probe {

void LockProbes::Add(const std::vector<TimedEvent>& events) {
  constexpr double kMillionths = 1e-6;
  for (const TimedEvent& timed : events) {
    if (!IsLockProbe(timed) || timed.event.end <= timed.event.begin) continue;
    LockUse& use = uses_[timed.process];
    const double seconds = static_cast<double>(timed.event.end - timed.event.begin) * 1e-9;
    const double held = kMillionths * static_cast<double>(timed.event.value);
    use.process = timed.process;
    use.seconds += seconds;
    use.held += seconds * std::min(held, 1.0);
  }
}

std::vector<LockUse> LockProbes::Uses() const {
  std::vector<LockUse> uses;
  uses.reserve(uses_.size());
  for (const auto& [process, sums] : uses_) {
    uses.push_back(sums);
    uses.back().held /= sums.seconds;
  }
  return uses;
}

}  // namespace recpack::probe

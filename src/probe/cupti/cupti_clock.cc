#include "src/probe/cupti/cupti_clock.h"

#include <limits>

#include "recpack/base/event_log.h"

namespace recpack::probe {
namespace {

uint64_t Now() { return static_cast<uint64_t>(EventLog::Now()); }

}  // namespace

void CuptiClock::Start(const CuptiApi& api) {
  ours_ = api.register_timestamp != nullptr && api.register_timestamp(&Now) == CUPTI_SUCCESS;
  Measure(api);
  first_ = offset_;
}

void CuptiClock::Measure(const CuptiApi& api) {
  if (ours_) return;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 5; ++i) {  // the shortest try has the least error
    const int64_t before = EventLog::Now();
    uint64_t time = 0;
    if (api.timestamp(&time) != CUPTI_SUCCESS) return;
    const int64_t after = EventLog::Now();
    if (after - before >= least) continue;
    least = after - before;
    offset_ = before + least / 2 - static_cast<int64_t>(time);
  }
}

}  // namespace recpack::probe

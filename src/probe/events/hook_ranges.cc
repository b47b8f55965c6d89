#include "src/probe/events/hook_ranges.h"

namespace recpack::probe {
namespace {

constexpr char kRank[] = "rank";

}  // namespace

bool IsLockProbe(const TimedEvent& event) {
  return event.event.kind == EventKind::kRange && event.name == kInterpreterLock;
}

bool IsInputSample(const TimedEvent& event) {
  return event.event.kind == EventKind::kRange && event.name.starts_with(kInputSample);
}

bool IsRank(const TimedEvent& event) {
  return event.event.kind == EventKind::kRange && event.name == kRank &&
         event.event.begin == event.event.end && event.event.value >> kRankSizeBits > 1;
}

}  // namespace recpack::probe

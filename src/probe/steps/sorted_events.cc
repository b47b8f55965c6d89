#include "src/probe/steps/sorted_events.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "src/probe/events/cuda_names.h"
#include "src/probe/steps/marked_steps.h"

namespace recpack::probe {
namespace {

// Names of the Python hook for steps without an optimizer's step, and for waits of evaluations.
constexpr char kBetweenBatches[] = "batch";
constexpr char kEvaluation[] = "evaluation";
// Starts the workers, and returns no batch.
constexpr char kIteratorBegins[] = "iter(DataLoader)";

std::vector<TimedEvent> Closed(std::vector<TimedEvent> events, int64_t now) {
  RemoveEndedOpenEvents(events);
  for (TimedEvent& timed : events) {
    if (timed.event.open) timed.event.end = std::max(now, timed.event.begin);
  }
  return events;
}

void AddCopy(const TimedEvent& timed, SortedEvents& sorted) {
  const Event& event = timed.event;
  const bool between =
      event.copy == CopyKind::kDeviceToDevice || event.copy == CopyKind::kPeerToPeer;
  if (between && event.device == Event::kNoDevice) {
    sorted.by_hosts[timed.process].push_back(ToInterval(event));
    return;
  }
  DeviceEvents& device = sorted.devices[{timed.process, event.device}];
  if (between) device.copies_between.push_back(ToInterval(event));
  if (event.copy == CopyKind::kHostToDevice) device.copies_in.push_back(ToInterval(event));
}

SortedEvents Sort(const std::vector<TimedEvent>& events) {
  SortedEvents sorted;
  for (const TimedEvent& timed : events) {
    const Event& event = timed.event;
    LaneEvents& lane = sorted.lanes[{timed.process, event.lane}];
    DeviceEvents& device = sorted.devices[{timed.process, event.device}];
    switch (event.kind) {
      case EventKind::kStep:
        (timed.name == kBetweenBatches ? lane.batch_steps : lane.steps).push_back(event);
        break;
      case EventKind::kInputWait:
        if (timed.name == kEvaluation) {
          lane.evaluations.push_back(event);
          break;
        }
        lane.waits.push_back(event);
        (timed.name == kIteratorBegins ? lane.starts : lane.batches).push_back(ToInterval(event));
        break;
      case EventKind::kCollective:
        lane.exchanges.push_back(event);
        if (event.device != Event::kNoDevice)
          device.exchanges.emplace_back(event.lane, ToInterval(event));
        break;
      case EventKind::kDevice:
        device.work.push_back(ToInterval(event));
        break;
      case EventKind::kCopy:
        AddCopy(timed, sorted);
        break;
      case EventKind::kRange:
        lane.fetches_ahead |= timed.name == kFetchedAhead;
        break;
      case EventKind::kHost:
        if (IsLaunch(timed.name)) ++sorted.launches[timed.process];
        break;
    }
  }
  // Steps between batches count in processes without optimizer steps.
  std::set<int> telling_steps;
  for (auto& [at, lane] : sorted.lanes) {
    if (lane.steps.empty()) lane.steps = std::move(lane.batch_steps);
    if (!lane.steps.empty()) telling_steps.insert(at.first);
  }
  for (auto& [at, steps] : MarkedSteps(events)) {
    if (telling_steps.contains(at.first)) continue;
    sorted.lanes[at].steps = std::move(steps);
    sorted.lanes[at].marked = true;
  }
  return sorted;
}

}  // namespace

void RemoveEndedOpenEvents(std::vector<TimedEvent>& events) {
  using Key = std::tuple<int, uint32_t, EventKind, int64_t>;
  const auto key = [](const TimedEvent& timed) {
    return Key{timed.process, timed.event.lane, timed.event.kind, timed.event.begin};
  };
  std::set<Key> open;
  for (const TimedEvent& timed : events) {
    if (timed.event.open) open.insert(key(timed));
  }
  if (open.empty()) return;
  std::set<Key> ended;
  for (const TimedEvent& timed : events) {
    if (!timed.event.open && open.contains(key(timed))) ended.insert(key(timed));
  }
  std::erase_if(events, [&](const TimedEvent& timed) {
    return timed.event.open && ended.contains(key(timed));
  });
}

SortedEvents SortEvents(const std::vector<TimedEvent>& events, int64_t now) {
  return Sort(Closed(events, now));
}

}  // namespace recpack::probe

#include "recpack/probe/steps.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "src/probe/intervals.h"

namespace recpack {
namespace {

// Batches that a thread must have taken, where nobody tells of steps, to count as a trainer.
constexpr size_t kFewestBatches = 3;

// Names that the hook in Python programs gives: steps that end with no optimizer's, and waits that
// are none of the training.
constexpr char kBetweenBatches[] = "batch";
constexpr char kEvaluation[] = "evaluation";

using Lane = std::pair<int, uint32_t>;  // process, lane

// What one thread told.
struct LaneEvents {
  std::vector<Event> steps, batch_steps, waits, exchanges, device;
  bool fetches_ahead = false;
};

// What a device of a process did, whichever lane told of it.
struct DeviceEvents {
  std::vector<Interval> work, copies_in;
};

struct Sorted {
  std::map<Lane, LaneEvents> lanes;
  std::map<std::pair<int, uint16_t>, DeviceEvents> devices;
};

Interval Of(const Event& event) { return {event.begin, event.end}; }

// An open event is told again when it has ended.
std::vector<TimedEvent> Closed(const std::vector<TimedEvent>& events, int64_t now) {
  using Key = std::tuple<int, uint32_t, EventKind, int64_t>;
  const auto key = [](const TimedEvent& timed) {
    return Key{timed.process, timed.event.lane, timed.event.kind, timed.event.begin};
  };
  std::set<Key> ended;
  for (const TimedEvent& timed : events) {
    if (!timed.event.open) ended.insert(key(timed));
  }
  std::vector<TimedEvent> closed;
  closed.reserve(events.size());
  for (const TimedEvent& timed : events) {
    if (timed.event.open && ended.contains(key(timed))) continue;
    closed.push_back(timed);
    if (timed.event.open) closed.back().event.end = std::max(now, timed.event.begin);
  }
  return closed;
}

Sorted Sort(const std::vector<TimedEvent>& events) {
  Sorted sorted;
  for (const TimedEvent& timed : events) {
    const Event& event = timed.event;
    LaneEvents& lane = sorted.lanes[{timed.process, event.lane}];
    DeviceEvents& device = sorted.devices[{timed.process, event.device}];
    switch (event.kind) {
      case EventKind::kStep:
        (timed.name == kBetweenBatches ? lane.batch_steps : lane.steps).push_back(event);
        break;
      case EventKind::kInputWait:
        if (timed.name != kEvaluation) lane.waits.push_back(event);
        break;
      case EventKind::kCollective:
        lane.exchanges.push_back(event);
        break;
      case EventKind::kDevice:
        device.work.push_back(Of(event));
        break;
      case EventKind::kCopy:
        if (event.copy == CopyKind::kHostToDevice) device.copies_in.push_back(Of(event));
        break;
      case EventKind::kRange:
        if (timed.name == kFetchedAhead) lane.fetches_ahead = true;
        break;
      case EventKind::kHost:
        break;
    }
  }
  // What lies between two batches is a step where no optimizer tells of better ones.
  for (auto& [at, lane] : sorted.lanes) {
    if (lane.steps.empty()) lane.steps = std::move(lane.batch_steps);
  }
  return sorted;
}

bool EarlierBegin(const Event& a, const Event& b) { return a.begin < b.begin; }

std::vector<StepRecord> FromSteps(const std::vector<Event>& told) {
  std::vector<StepRecord> steps;
  steps.reserve(told.size());
  for (const Event& event : told) {
    steps.push_back({.number = event.value, .begin = event.begin, .end = event.end});
  }
  return steps;
}

std::vector<StepRecord> FromWaits(const std::vector<Event>& waits) {
  std::vector<StepRecord> steps;
  for (size_t i = 0; i + 1 < waits.size(); ++i) {
    steps.push_back({.number = i, .begin = waits[i].begin, .end = waits[i + 1].begin});
  }
  return steps;
}

// What of `intervals` lies within each step, added up. Both in order of time.
void AddWithin(const Intervals& intervals, std::vector<StepRecord>& steps,
               int64_t StepRecord::*sum) {
  size_t first = 0;
  for (StepRecord& step : steps) {
    while (first < intervals.size() && intervals[first].end <= step.begin) ++first;
    for (size_t i = first; i < intervals.size() && intervals[i].begin < step.end; ++i) {
      const Interval within = {std::max(intervals[i].begin, step.begin),
                               std::min(intervals[i].end, step.end)};
      step.*sum += within.length();
    }
  }
}

Intervals UnionOf(const std::vector<Event>& events) {
  std::vector<Interval> pieces;
  pieces.reserve(events.size());
  for (const Event& event : events) pieces.push_back(Of(event));
  return Union(std::move(pieces));
}

// Of its device; where it named none, of all of its process.
DeviceEvents DeviceOf(const TrainerSteps& trainer, const Sorted& sorted) {
  DeviceEvents all;
  for (const auto& [at, device] : sorted.devices) {
    if (at.first != trainer.process) continue;
    if (trainer.device != Event::kNoDevice && at.second != trainer.device) continue;
    all.work.insert(all.work.end(), device.work.begin(), device.work.end());
    all.copies_in.insert(all.copies_in.end(), device.copies_in.begin(), device.copies_in.end());
  }
  return all;
}

TrainerSteps Account(const Lane& at, LaneEvents& lane, const Sorted& sorted) {
  TrainerSteps trainer{.process = at.first, .lane = at.second};
  trainer.source =
      lane.steps.empty() ? TrainerSteps::Source::kBetweenWaits : TrainerSteps::Source::kTold;
  std::sort(lane.steps.begin(), lane.steps.end(), EarlierBegin);
  std::sort(lane.waits.begin(), lane.waits.end(), EarlierBegin);
  trainer.steps = lane.steps.empty() ? FromWaits(lane.waits) : FromSteps(lane.steps);
  for (const auto* events : {&lane.waits, &lane.steps}) {
    if (!events->empty() && events->front().device != Event::kNoDevice) {
      trainer.device = events->front().device;
    }
  }
  const Intervals waits = UnionOf(lane.waits);
  const Intervals exchanges = UnionOf(lane.exchanges);
  const DeviceEvents device = DeviceOf(trainer, sorted);
  trainer.device_seen = !device.work.empty();
  // A device that is a stretch of the host's own time does not compute while it waits for others.
  const Intervals work = Difference(Union(device.work), exchanges);
  const Intervals copies = Union(device.copies_in);
  const Intervals uncovered = Difference(waits, work);
  AddWithin(waits, trainer.steps, &StepRecord::input_wait);
  AddWithin(uncovered, trainer.steps, &StepRecord::uncovered_wait);
  AddWithin(exchanges, trainer.steps, &StepRecord::exchange);
  AddWithin(work, trainer.steps, &StepRecord::device);
  AddWithin(Difference(Difference(copies, work), waits), trainer.steps, &StepRecord::copies);
  return trainer;
}

bool Earlier(const TrainerSteps& a, const TrainerSteps& b) {
  return std::make_tuple(a.process, a.device, a.steps.front().begin) <
         std::make_tuple(b.process, b.device, b.steps.front().begin);
}

// A device whose steps were taken by one thread after the other has one trainer.
std::vector<TrainerSteps> Joined(std::vector<TrainerSteps> trainers) {
  std::erase_if(trainers, [](const TrainerSteps& trainer) { return trainer.steps.empty(); });
  std::stable_sort(trainers.begin(), trainers.end(), Earlier);
  std::vector<TrainerSteps> joined;
  for (TrainerSteps& trainer : trainers) {
    TrainerSteps* const before = joined.empty() ? nullptr : &joined.back();
    if (before && trainer.device != Event::kNoDevice && before->process == trainer.process &&
        before->device == trainer.device &&
        before->steps.back().end <= trainer.steps.front().begin) {
      before->steps.insert(before->steps.end(), trainer.steps.begin(), trainer.steps.end());
      before->device_seen &= trainer.device_seen;
    } else {
      joined.push_back(std::move(trainer));
    }
  }
  return joined;
}

}  // namespace

std::vector<TrainerSteps> StepsOf(const std::vector<TimedEvent>& events, int64_t now) {
  Sorted sorted = Sort(Closed(events, now));
  std::set<int> fetching_ahead;  // processes
  std::set<int> telling_steps;
  for (const auto& [at, lane] : sorted.lanes) {
    if (lane.fetches_ahead) fetching_ahead.insert(at.first);
    if (!lane.steps.empty()) telling_steps.insert(at.first);
  }
  std::vector<TrainerSteps> trainers;
  for (auto& [at, lane] : sorted.lanes) {
    const bool told = telling_steps.contains(at.first);
    // Where a program tells of its steps, threads that tell of none are no trainers.
    if (told ? lane.steps.empty() : lane.waits.size() < kFewestBatches) continue;
    trainers.push_back(Account(at, lane, sorted));
    trainers.back().fetched_ahead = fetching_ahead.contains(at.first);
  }
  return Joined(std::move(trainers));
}

}  // namespace recpack

#include "recpack/probe/steps.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "src/probe/sorted_events.h"

namespace recpack {
namespace {

// Batches that a thread must have taken, where nobody tells of steps, to count as a trainer.
constexpr size_t kFewestBatches = 3;
// Shorter ones are what launching a kernel takes; in longer ones the host does something else.
constexpr int64_t kLaunchGap = 100'000;  // ns

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

// visit(step, span, ns of it within the step) of all that lie in a step. Both in order of time.
template <typename Spans, typename Visit>
void VisitWithin(const Spans& spans, std::vector<StepRecord>& steps, const Visit& visit) {
  size_t first = 0;
  for (StepRecord& step : steps) {
    while (first < spans.size() && spans[first].end <= step.begin) ++first;
    for (size_t i = first; i < spans.size() && spans[i].begin < step.end; ++i) {
      visit(step, spans[i],
            std::min(spans[i].end, step.end) - std::max(spans[i].begin, step.begin));
    }
  }
}

// What of `intervals` lies within each step, added up.
void AddWithin(const Intervals& intervals, std::vector<StepRecord>& steps,
               int64_t StepRecord::*sum) {
  VisitWithin(intervals, steps,
              [sum](StepRecord& step, const Interval&, int64_t within) { step.*sum += within; });
}

// What the thread ran in waits within each step, told of each wait as a whole.
void AddBusyWaits(const std::vector<Event>& waits, std::vector<StepRecord>& steps) {
  VisitWithin(waits, steps, [](StepRecord& step, const Event& wait, int64_t within) {
    const auto whole = static_cast<double>(std::max<int64_t>(1, wait.end - wait.begin));
    const double ran = std::min(static_cast<double>(wait.value), whole);
    step.busy_wait += static_cast<int64_t>(ran * static_cast<double>(within) / whole);
  });
}

// How many of them begin within each step.
void CountBegins(const std::vector<Interval>& pieces, std::vector<StepRecord>& steps) {
  std::vector<int64_t> begins;
  begins.reserve(pieces.size());
  for (const Interval& piece : pieces) begins.push_back(piece.begin);
  std::sort(begins.begin(), begins.end());
  for (StepRecord& step : steps) {
    const auto first = std::lower_bound(begins.begin(), begins.end(), step.begin);
    step.kernels = static_cast<uint32_t>(std::lower_bound(first, begins.end(), step.end) - first);
  }
}

Intervals UnionOf(const std::vector<Event>& events) {
  std::vector<Interval> pieces;
  pieces.reserve(events.size());
  for (const Event& event : events) pieces.push_back(IntervalOf(event));
  return Union(std::move(pieces));
}

// Of its device; where it named none, of all of its process.
DeviceEvents DeviceOf(const TrainerSteps& trainer, const SortedEvents& sorted) {
  DeviceEvents all;
  for (const auto& [at, device] : sorted.devices) {
    if (at.first != trainer.process) continue;
    if (trainer.device != Event::kNoDevice && at.second != trainer.device) continue;
    all.work.insert(all.work.end(), device.work.begin(), device.work.end());
    all.copies_in.insert(all.copies_in.end(), device.copies_in.begin(), device.copies_in.end());
    all.exchanges.insert(all.exchanges.end(), device.exchanges.begin(), device.exchanges.end());
    all.copies_between.insert(all.copies_between.end(), device.copies_between.begin(),
                              device.copies_between.end());
  }
  return all;
}

// What the device did, or what kept it from work.
void AccountDevice(const Intervals& waits, const Intervals& exchanges, bool launches_seen,
                   DeviceEvents device, std::vector<Interval> by_hosts, TrainerSteps& trainer) {
  std::vector<StepRecord>& steps = trainer.steps;
  trainer.device_seen = !device.work.empty();
  if (launches_seen) CountBegins(device.work, steps);
  // A device that is a stretch of the host's own time does not compute while it waits for others,
  // nor while that host copies.
  const Intervals copied = Union(std::move(by_hosts));
  const Intervals work = Difference(Difference(Union(device.work), exchanges), copied);
  const Intervals uncovered = Difference(waits, work);
  std::vector<Interval> streams;  // exchange in kernels of their own
  for (const auto& [lane, exchange] : device.exchanges) {
    if (lane != trainer.lane) streams.push_back(exchange);
  }
  const Intervals exchanging =
      Difference(Difference(Difference(Union(std::move(streams)), work), waits), exchanges);
  const Intervals in = Difference(Difference(Union(device.copies_in), work), waits);
  device.copies_between.insert(device.copies_between.end(), copied.begin(), copied.end());
  const Intervals between =
      Difference(Difference(Difference(Union(device.copies_between), work), waits), in);
  AddWithin(uncovered, steps, &StepRecord::uncovered_wait);
  AddWithin(work, steps, &StepRecord::device);
  AddWithin(exchanging, steps, &StepRecord::exchange);
  AddWithin(in, steps, &StepRecord::copies);
  AddWithin(between, steps, &StepRecord::device_copies);
  if (!launches_seen || work.empty()) return;
  std::vector<Interval> busy(work);
  for (const Intervals* more : {&in, &between, &waits, &exchanges, &exchanging}) {
    busy.insert(busy.end(), more->begin(), more->end());
  }
  Intervals gaps = Gaps(Union(std::move(busy)), {work.front().begin, work.back().end});
  std::erase_if(gaps, [](const Interval& gap) { return gap.length() >= kLaunchGap; });
  AddWithin(gaps, steps, &StepRecord::launch_gaps);
}

TrainerSteps Account(const Lane& at, LaneEvents& lane, const SortedEvents& sorted) {
  TrainerSteps trainer{.process = at.first, .lane = at.second};
  trainer.source = lane.marked          ? TrainerSteps::Source::kMarked
                   : lane.steps.empty() ? TrainerSteps::Source::kBetweenWaits
                                        : TrainerSteps::Source::kTold;
  std::sort(lane.steps.begin(), lane.steps.end(), EarlierBegin);
  std::sort(lane.waits.begin(), lane.waits.end(), EarlierBegin);
  trainer.steps = lane.steps.empty() ? FromWaits(lane.waits) : FromSteps(lane.steps);
  trainer.waits_seen = sorted.telling_waits.contains(at.first);
  for (const auto* events : {&lane.waits, &lane.steps}) {
    if (!events->empty() && events->front().device != Event::kNoDevice) {
      trainer.device = events->front().device;
    }
  }
  const Intervals waits = UnionOf(lane.waits);
  const Intervals exchanges = UnionOf(lane.exchanges);
  AddWithin(waits, trainer.steps, &StepRecord::input_wait);
  AddWithin(exchanges, trainer.steps, &StepRecord::exchange);
  AddBusyWaits(lane.waits, trainer.steps);
  const auto by_hosts = sorted.by_hosts.find(at.first);
  AccountDevice(waits, exchanges, sorted.launches.contains(at.first), DeviceOf(trainer, sorted),
                by_hosts == sorted.by_hosts.end() ? std::vector<Interval>() : by_hosts->second,
                trainer);
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
  SortedEvents sorted = SortEvents(events, now);
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

#include "src/probe/steps/steps.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "src/probe/steps/device_account.h"
#include "src/probe/steps/sorted_events.h"
#include "src/probe/steps/within_steps.h"

namespace recpack::probe {
namespace {

// Fewest batches of a trainer, if no steps are reported.
constexpr size_t kFewestBatches = 3;

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

// Adds the CPU time within each step's waits, in proportion if a wait extends beyond the step.
void AddBusyWaits(const std::vector<Event>& waits, std::vector<StepRecord>& steps) {
  VisitWithin(waits, steps, [](StepRecord& step, const Event& wait, int64_t within) {
    const auto whole = static_cast<double>(std::max<int64_t>(1, wait.end - wait.begin));
    const double ran = std::min(static_cast<double>(wait.value), whole);
    step.busy_wait += static_cast<int64_t>(ran * static_cast<double>(within) / whole);
  });
}

Intervals MergeIntervals(const std::vector<Event>& events) {
  std::vector<Interval> pieces;
  pieces.reserve(events.size());
  for (const Event& event : events) pieces.push_back(ToInterval(event));
  return Union(std::move(pieces));
}

// Workers that start make their first batch while the training waits.
Intervals StartsWithFirstBatches(Intervals starts, Intervals batches) {
  std::ranges::sort(starts, {}, &Interval::begin);
  std::ranges::sort(batches, {}, &Interval::begin);
  const size_t count = starts.size();
  for (size_t i = 0; i < count; ++i) {
    const auto first = std::ranges::lower_bound(batches, starts[i].end, {}, &Interval::begin);
    if (first != batches.end()) starts.push_back(*first);
  }
  return Union(std::move(starts));
}

// Tells whether the waits of reported or marked steps are seen. A thread that gets its input from
// another thread in a way that is not hooked may have waited for a batch or two itself.
bool CallsAreSeen(std::vector<Interval> batches, std::vector<StepRecord>& steps,
                  bool fetched_ahead) {
  std::ranges::sort(batches, {}, &Interval::begin);
  size_t with_batch = 0;
  const StepRecord* last = nullptr;
  VisitWithin(batches, steps, [&](StepRecord& step, const Interval&, int64_t) {
    with_batch += &step != last ? 1 : 0;
    last = &step;
  });
  return with_batch > 0 && (!fetched_ahead || 2 * with_batch >= steps.size());
}

// `evaluations`: waits for their input.
void AddBeside(const Intervals& evaluations, std::vector<StepRecord>& steps) {
  size_t first = 0;
  int64_t ended = INT64_MIN;  // all steps so far, which may overlap
  for (size_t i = 1; i < steps.size(); ++i) {
    ended = std::max(ended, steps[i - 1].end);
    const Interval beside{ended, steps[i].begin};
    if (beside.end <= beside.begin) continue;
    steps[i].beside = beside.end - beside.begin;
    while (first < evaluations.size() && evaluations[first].end <= beside.begin) ++first;
    for (size_t j = first; j < evaluations.size() && evaluations[j].begin < beside.end; ++j) {
      steps[i].evaluation_wait +=
          std::min(evaluations[j].end, beside.end) - std::max(evaluations[j].begin, beside.begin);
    }
  }
}

TrainerSteps Account(const Lane& at, LaneEvents& lane, const SortedEvents& sorted,
                     bool fetched_ahead) {
  TrainerSteps trainer{.process = at.first, .lane = at.second, .fetched_ahead = fetched_ahead};
  trainer.source = lane.marked          ? TrainerSteps::Source::kMarked
                   : lane.steps.empty() ? TrainerSteps::Source::kBetweenWaits
                                        : TrainerSteps::Source::kTold;
  std::sort(lane.steps.begin(), lane.steps.end(), EarlierBegin);
  std::sort(lane.waits.begin(), lane.waits.end(), EarlierBegin);
  trainer.steps = lane.steps.empty() ? FromWaits(lane.waits) : FromSteps(lane.steps);
  for (const auto* events : {&lane.waits, &lane.steps}) {
    if (!events->empty() && events->front().device != Event::kNoDevice) {
      trainer.device = events->front().device;
    }
  }
  // Steps of a hook have a name. A program that reports its own steps reports all its waits, and
  // names no device if a step covers several.
  if (trainer.source == TrainerSteps::Source::kTold && lane.steps.front().name == 0) {
    trainer.device = lane.steps.front().device;
  } else {
    trainer.waits_seen = CallsAreSeen(lane.batches, trainer.steps, fetched_ahead);
  }
  const Intervals waits = MergeIntervals(lane.waits);
  const Intervals exchanges = MergeIntervals(lane.exchanges);
  AddWithin(waits, trainer.steps, &StepRecord::input_wait);
  AddWithin(exchanges, trainer.steps, &StepRecord::exchange);
  AddBusyWaits(lane.waits, trainer.steps);
  if (trainer.source == TrainerSteps::Source::kTold) {
    AddBeside(MergeIntervals(lane.evaluations), trainer.steps);
  }
  AddWithin(StartsWithFirstBatches(lane.starts, lane.batches), trainer.steps, &StepRecord::restart);
  AccountDevices(waits, exchanges, sorted, trainer);
  return trainer;
}

bool Earlier(const TrainerSteps& a, const TrainerSteps& b) {
  return std::make_tuple(a.process, a.device, a.steps.front().begin) <
         std::make_tuple(b.process, b.device, b.steps.front().begin);
}

// Joins trainers of the same device, whose threads took steps one after the other.
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

std::vector<TrainerSteps> FindSteps(const std::vector<TimedEvent>& events, int64_t now) {
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
    // If a program reports steps, threads without steps are not trainers.
    if (told ? lane.steps.empty() : lane.waits.size() < kFewestBatches) continue;
    trainers.push_back(Account(at, lane, sorted, fetching_ahead.contains(at.first)));
  }
  return Joined(std::move(trainers));
}

}  // namespace recpack::probe

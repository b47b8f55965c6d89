#include <algorithm>
#include <iterator>
#include <utility>

#include "src/probe/steps/same_trainer.h"
#include "src/probe/steps/sorted_events.h"
#include "src/probe/steps/steps.h"

namespace recpack::probe {
namespace {

constexpr size_t kMostWithoutSteps = 8;  // times as many events as are kept at least

// A trainer that tells of no step for so long has ended, or does something else.
constexpr int64_t kLongQuiet = 60'000'000'000;  // ns
constexpr int64_t kManySteps = 20;              // of its longest

bool HasEnded(const TrainerSteps& trainer, int64_t now) {
  int64_t longest = 0;
  for (const StepRecord& step : trainer.steps) longest = std::max(longest, step.duration());
  return now - trainer.steps.back().end > std::max(kLongQuiet, kManySteps * longest);
}

// Puts the steps of `more` behind those that are there already, each once.
void Append(std::vector<TrainerSteps> more, std::vector<TrainerSteps>& all) {
  for (TrainerSteps& trainer : more) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const TrainerSteps& there) {
      return SameTrainer(there, trainer);
    });
    if (found == all.end()) {
      all.push_back(std::move(trainer));
      continue;
    }
    const int64_t end = found->steps.empty() ? INT64_MIN : found->steps.back().end;
    for (StepRecord& step : trainer.steps) {
      if (step.end <= end) continue;
      if (trainer.source != TrainerSteps::Source::kTold) {
        step.number = found->steps.empty() ? 0 : found->steps.back().number + 1;
      }
      found->steps.push_back(step);
    }
    found->device_seen |= trainer.device_seen;
    found->waits_seen |= trainer.waits_seen;
    found->fetched_ahead |= trainer.fetched_ahead;
  }
}

TrainerSteps LatestOf(const TrainerSteps& trainer, size_t most) {
  TrainerSteps latest{.process = trainer.process,
                      .lane = trainer.lane,
                      .device = trainer.device,
                      .source = trainer.source,
                      .device_seen = trainer.device_seen,
                      .waits_seen = trainer.waits_seen,
                      .fetched_ahead = trainer.fetched_ahead};
  const auto count = static_cast<ptrdiff_t>(std::min(most, trainer.steps.size()));
  latest.steps.assign(trainer.steps.end() - count, trainer.steps.end());
  return latest;
}

}  // namespace

void StepCollector::Add(std::vector<TimedEvent> events) {
  std::move(events.begin(), events.end(), std::back_inserter(pending_));
  if (pending_.size() >= settle_at_) Settle();
}

std::vector<TrainerSteps> StepCollector::Trainers(int64_t now, size_t most_steps) const {
  std::vector<TrainerSteps> all;
  all.reserve(settled_.size());
  for (const TrainerSteps& trainer : settled_) all.push_back(LatestOf(trainer, most_steps));
  Append(StepsOf(pending_, now), all);
  for (TrainerSteps& trainer : all) {
    if (trainer.steps.size() > most_steps) trainer = LatestOf(trainer, most_steps);
  }
  return all;
}

// All steps but the last one of each trainer, which may still get events. Those of what is left are
// kept from its beginning on; of trainers that have ended nothing older than a minute is.
void StepCollector::Settle() {
  ForgetBegins(pending_);  // or they would seem to last once their ends are gone
  int64_t now = 0;
  for (const TimedEvent& timed : pending_) now = std::max(now, timed.event.end);
  std::vector<TrainerSteps> trainers = StepsOf(pending_, now);
  const bool trainers_seen = !trainers.empty();
  int64_t keep_from = INT64_MAX;
  for (TrainerSteps& trainer : trainers) {
    if (HasEnded(trainer, now)) {
      keep_from = std::min(keep_from, now - kLongQuiet);  // what may come of it is of these
      continue;
    }
    keep_from = std::min(keep_from, trainer.steps.back().begin);
    trainer.steps.pop_back();
  }
  Append(std::move(trainers), settled_);
  if (trainers_seen) {
    std::erase_if(pending_, [&](const TimedEvent& timed) {
      return !timed.event.open && timed.event.end <= keep_from;
    });
  } else if (pending_.size() > kMostWithoutSteps * most_events_) {
    ForgetOlder();
  }
  // Where little could go, looking again at once would not help.
  settle_at_ = std::max(most_events_, 2 * pending_.size());
}

// Nobody has told of a step: what devices did before is part of none.
void StepCollector::ForgetOlder() {
  const size_t older = pending_.size() / 2;
  size_t at = 0;
  std::erase_if(pending_, [&](const TimedEvent& timed) {
    const EventKind kind = timed.event.kind;
    return at++ < older && (kind == EventKind::kDevice || kind == EventKind::kCopy ||
                            kind == EventKind::kHost || kind == EventKind::kCollective);
  });
}

}  // namespace recpack::probe

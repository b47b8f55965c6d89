#include "src/probe/steps/step_collector.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/probe/steps/sorted_events.h"

namespace recpack::probe {
namespace {

constexpr size_t kMostWithoutSteps = 8;  // times most_events_

// A trainer without a step for this long has ended or does something else.
constexpr int64_t kLongQuiet = 60'000'000'000;  // ns
constexpr int64_t kManySteps = 20;              // times its longest step

bool HasEnded(const TrainerSteps& trainer, int64_t now) {
  int64_t longest = 0;
  for (const StepRecord& step : trainer.steps) longest = std::max(longest, step.duration());
  return now - trainer.steps.back().end > std::max(kLongQuiet, kManySteps * longest);
}

auto FindKept(auto& settled, const TrainerSteps& trainer) {
  return std::ranges::find_if(
      settled, [&](const KeptSteps& kept) { return SameTrainer(kept.trainer(), trainer); });
}

// Begin of the last step, or of the one before if that is needed to know what lies between them.
int64_t BeginOfLast(const std::vector<StepRecord>& steps) {
  const bool beside = steps.back().beside > 0;
  return steps[steps.size() - (beside ? 2 : 1)].begin;
}

}  // namespace

void StepCollector::Add(std::vector<TimedEvent> events) {
  std::move(events.begin(), events.end(), std::back_inserter(pending_));
  if (pending_.size() >= settle_at_) Settle();
}

std::vector<TrainerSteps> StepCollector::Trainers(int64_t now, size_t most_steps) const {
  std::vector<TrainerSteps> pending = FindSteps(pending_, now), all;
  all.reserve(settled_.size() + pending.size());
  for (const KeptSteps& kept : settled_) {
    const auto more = std::ranges::find_if(
        pending, [&](const TrainerSteps& one) { return SameTrainer(kept.trainer(), one); });
    all.push_back(kept.Latest(most_steps, more == pending.end() ? nullptr : &*more));
  }
  for (const TrainerSteps& trainer : pending) {
    const auto known = FindKept(settled_, trainer);
    if (known == settled_.end()) all.push_back(KeptSteps(trainer).Latest(most_steps));
  }
  return all;
}

// Accounts for all steps except each trainer's last, which may still get events. Keeps events from
// BeginOfLast() on; for trainers that have ended, those of the last minute.
void StepCollector::Settle() {
  RemoveEndedOpenEvents(pending_);  // else they would stay open once their ends are dropped
  int64_t now = 0;
  for (const TimedEvent& timed : pending_) now = std::max(now, timed.event.end);
  std::vector<TrainerSteps> trainers = FindSteps(pending_, now);
  const bool trainers_seen = !trainers.empty();
  int64_t keep_from = INT64_MAX;
  for (TrainerSteps& trainer : trainers) {
    if (HasEnded(trainer, now)) {
      keep_from = std::min(keep_from, now - kLongQuiet);  // enough for any later step
      continue;
    }
    keep_from = std::min(keep_from, BeginOfLast(trainer.steps));
    trainer.steps.pop_back();
  }
  for (const TrainerSteps& trainer : trainers) {
    const auto known = FindKept(settled_, trainer);
    if (known == settled_.end()) {
      settled_.emplace_back(trainer);
    } else {
      known->Append(trainer);
    }
  }
  if (trainers_seen) {
    std::erase_if(pending_, [&](const TimedEvent& timed) {
      return !timed.event.open && timed.event.end <= keep_from;
    });
  } else if (pending_.size() > kMostWithoutSteps * most_events_) {
    ForgetOlder();
  }
  // Doubles the limit if little could be dropped, so that the next attempt is not immediate.
  settle_at_ = std::max(most_events_, 2 * pending_.size());
}

// Without any step, older device activity belongs to no step.
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

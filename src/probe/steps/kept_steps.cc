#include "src/probe/steps/kept_steps.h"

#include <algorithm>

namespace recpack::probe {
namespace {

void KeepLast(size_t most, std::vector<StepRecord>& steps) {
  if (steps.size() <= most) return;
  steps.erase(steps.begin(), steps.end() - static_cast<ptrdiff_t>(most));
}

TrainerSteps WithoutSteps(const TrainerSteps& trainer) {
  return {.process = trainer.process,
          .lane = trainer.lane,
          .device = trainer.device,
          .source = trainer.source,
          .device_seen = trainer.device_seen,
          .waits_seen = trainer.waits_seen,
          .fetched_ahead = trainer.fetched_ahead};
}

void JoinFlags(const TrainerSteps& more, TrainerSteps& trainer) {
  trainer.device_seen |= more.device_seen;
  trainer.waits_seen |= more.waits_seen;
  trainer.fetched_ahead |= more.fetched_ahead;
}

}  // namespace

KeptSteps::KeptSteps(const TrainerSteps& trainer) : whole_(WithoutSteps(trainer)) {
  for (const StepRecord& step : trainer.steps) Add(step);
}

void KeptSteps::Add(const StepRecord& step) {
  end_ = step.end;
  next_ = step.number + 1;
  if (stride_ > 1) {
    latest_.push_back(step);
    if (latest_.size() >= 2 * kLatest) KeepLast(kLatest, latest_);
    if (!Keeps(step.number)) {
      ++whole_.dropped;
      return;
    }
  }
  whole_.steps.push_back(step);
  if (whole_.steps.size() >= kMost) Thin();
}

void KeptSteps::Thin() {
  if (stride_ == 1) {
    latest_ = whole_.steps;
    KeepLast(kLatest, latest_);
  }
  stride_ *= 2;
  auto& steps = whole_.steps;
  size_t dropped = std::erase_if(steps, [&](const StepRecord& s) { return !Keeps(s.number); });
  if (steps.size() > kMost * 3 / 4) {  // a program that does not count its steps
    size_t at = 0;
    dropped += std::erase_if(steps, [&](const StepRecord&) { return at++ / kBlock % 2 != 0; });
  }
  whole_.dropped += dropped;
}

// Steps of `more` after the last one. What the program does not count is counted on.
std::vector<StepRecord> KeptSteps::New(const TrainerSteps& more) const {
  std::vector<StepRecord> steps;
  uint64_t next = next_;
  for (const StepRecord& step : more.steps) {
    if (step.end <= end_) continue;
    steps.push_back(step);
    if (more.source != TrainerSteps::Source::kTold) steps.back().number = next++;
  }
  // After a pause so long that the events of the step before it were dropped. Waits of evaluations
  // were dropped with them.
  if (more.source == TrainerSteps::Source::kTold && !steps.empty() && end_ != INT64_MIN &&
      steps.front().beside == 0) {
    steps.front().beside = std::max<int64_t>(0, steps.front().begin - end_);
  }
  return steps;
}

void KeptSteps::Append(const TrainerSteps& more) {
  for (const StepRecord& step : New(more)) Add(step);
  JoinFlags(more, whole_);
}

TrainerSteps KeptSteps::Latest(size_t most, const TrainerSteps* more) const {
  const bool without_gaps = stride_ > 1 && most <= kLatest;
  TrainerSteps trainer = WithoutSteps(whole_);
  trainer.dropped = without_gaps ? 0 : whole_.dropped;
  const auto& steps = without_gaps ? latest_ : whole_.steps;
  trainer.steps.assign(steps.end() - static_cast<ptrdiff_t>(std::min(most, steps.size())),
                       steps.end());
  if (more != nullptr) {
    for (const StepRecord& step : New(*more)) {
      if (without_gaps || Keeps(step.number)) {
        trainer.steps.push_back(step);
      } else {
        ++trainer.dropped;
      }
    }
    JoinFlags(*more, trainer);
  }
  KeepLast(most, trainer.steps);
  return trainer;
}

}  // namespace recpack::probe

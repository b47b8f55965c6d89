#include <algorithm>

#include "src/base/format.h"
#include "src/probe/causes/decide.h"
#include "src/probe/share/hidden_ranks.h"
#include "src/probe/util/intervals.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

Interval TimeSpan(const TrainerSteps& trainer) {
  if (trainer.steps.empty()) return {};
  return {trainer.steps.front().begin, trainer.steps.back().end};
}

bool IsPartOf(const TrainerSteps& trainer, const Interval& training) {
  const Interval time = TimeSpan(trainer);
  return time.length() > 0 && time.begin < training.end && time.end > training.begin;
}

// Tells whether any trainer reported steps. A loop over batches without steps, for instance an
// evaluation, is not a training.
bool Trains(const std::vector<TrainerSteps>& trainers, const Interval& training) {
  return std::ranges::any_of(trainers, [&](const TrainerSteps& trainer) {
    return trainer.source == TrainerSteps::Source::kTold && IsPartOf(trainer, training);
  });
}

Interval FindLongest(const Intervals& trainings, const std::vector<TrainerSteps>& trainers) {
  const Interval* longest = &trainings.front();
  for (const Interval& training : trainings) {
    const bool trains = Trains(trainers, training), longest_trains = Trains(trainers, *longest);
    if (trains != longest_trains ? trains : training.length() >= longest->length()) {
      longest = &training;
    }
  }
  return *longest;
}

}  // namespace

void SelectTraining(Training which, Evidence& evidence) {
  std::vector<TrainerSteps>& trainers = evidence.trainers;
  if (const size_t ended = DropEarlierStarts(evidence.ranks, trainers); ended > 0) {
    evidence.notes.push_back(format(
        "the training was restarted: {} processes that had ended before do not count", ended));
  }
  Intervals times;
  for (const TrainerSteps& trainer : trainers) times.push_back(TimeSpan(trainer));
  const Intervals trainings = Union(std::move(times));
  if (trainings.size() < 2) return;
  const Interval left =
      which == Training::kLatest ? trainings.back() : FindLongest(trainings, trainers);
  std::erase_if(trainers, [&](const TrainerSteps& trainer) { return !IsPartOf(trainer, left); });
  evidence.notes.push_back(format(
      "there were {} loops of steps, one after the other: this is the {} one, of {:.1f} s",
      trainings.size(), which == Training::kLatest ? "last" : "longest", Seconds(left.length())));
}

}  // namespace recpack::probe

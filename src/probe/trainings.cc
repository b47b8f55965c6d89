#include "src/probe/trainings.h"

#include <algorithm>

#include "src/probe/intervals.h"

namespace recpack {
namespace {

Interval TimeOf(const TrainerSteps& trainer) {
  return {trainer.steps.front().begin, trainer.steps.back().end};
}

}  // namespace

size_t LeaveOutOtherTrainings(std::vector<TrainerSteps>& trainers) {
  Intervals times;
  for (const TrainerSteps& trainer : trainers) {
    if (!trainer.steps.empty()) times.push_back(TimeOf(trainer));
  }
  const Intervals trainings = Union(std::move(times));
  if (trainings.size() < 2) return 0;
  Interval longest;
  for (const Interval& training : trainings) {
    if (training.length() >= longest.length()) longest = training;
  }
  std::erase_if(trainers, [&](const TrainerSteps& trainer) {
    return !trainer.steps.empty() &&
           (TimeOf(trainer).end <= longest.begin || TimeOf(trainer).begin >= longest.end);
  });
  return trainings.size() - 1;
}

}  // namespace recpack

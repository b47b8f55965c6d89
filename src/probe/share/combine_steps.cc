#include "src/probe/share/combine_steps.h"

#include <algorithm>
#include <map>

namespace recpack::probe {
namespace {

constexpr size_t kWarmUpPart = 20;
constexpr size_t kMostWarmUp = 10;
constexpr double kManyTimes = 10;

Part WaitPart(const StepRecord& step) {
  return {static_cast<double>(step.uncovered_wait), static_cast<double>(step.duration())};
}

}  // namespace

size_t DropWarmUp(std::vector<TrainerSteps>& trainers) {
  size_t fewest = SIZE_MAX;
  for (const TrainerSteps& trainer : trainers) fewest = std::min(fewest, trainer.steps.size());
  if (trainers.empty()) return 0;
  const size_t out = std::min(fewest, std::clamp<size_t>(fewest / kWarmUpPart, 1, kMostWarmUp));
  for (TrainerSteps& trainer : trainers) {
    trainer.steps.erase(trainer.steps.begin(), trainer.steps.begin() + static_cast<ptrdiff_t>(out));
  }
  return out;
}

bool RunInLockstep(const std::vector<TrainerSteps>& trainers) {
  if (trainers.size() < 2) return false;
  return std::all_of(trainers.begin(), trainers.end(), [](const TrainerSteps& trainer) {
    return std::any_of(trainer.steps.begin(), trainer.steps.end(),
                       [](const StepRecord& step) { return step.exchange > 0; });
  });
}

std::vector<Part> SumsOfWaits(const std::vector<TrainerSteps>& trainers) {
  std::vector<Part> waits;
  for (const TrainerSteps& trainer : trainers) {
    waits.resize(std::max(waits.size(), trainer.steps.size()));
    for (size_t i = 0; i < trainer.steps.size(); ++i) {
      const Part part = WaitPart(trainer.steps[i]);
      waits[i].part += part.part;
      waits[i].whole += part.whole;
    }
  }
  return waits;
}

std::vector<Part> WaitsOfSteps(const std::vector<TrainerSteps>& trainers) {
  struct Together {
    double ready = 0;       // time of the last trainer, without waits for others
    double work_ready = 0;  // also without input waits
    double duration = 0;
    size_t trainers = 0;
  };
  std::map<uint64_t, Together> by_number;
  for (const TrainerSteps& trainer : trainers) {
    for (const StepRecord& step : trainer.steps) {
      Together& together = by_number[step.number];
      const auto ready = static_cast<double>(step.duration() - step.exchange);
      const auto wait = static_cast<double>(step.uncovered_wait);
      together.ready = std::max(together.ready, ready);
      together.work_ready = std::max(together.work_ready, ready - wait);
      together.duration = std::max(together.duration, static_cast<double>(step.duration()));
      ++together.trainers;
    }
  }
  std::vector<Part> waits;
  for (const auto& [number, together] : by_number) {
    if (together.trainers < trainers.size()) continue;
    waits.push_back({together.ready - together.work_ready, together.duration});
  }
  return waits;
}

std::vector<Part> LongestWaitsOfSteps(const std::vector<TrainerSteps>& trainers) {
  struct Together {
    double wait = 0;                // longest
    std::vector<double> durations;  // by trainer
  };
  std::map<uint64_t, Together> by_number;
  for (const TrainerSteps& trainer : trainers) {
    for (const StepRecord& step : trainer.steps) {
      Together& together = by_number[step.number];
      together.wait = std::max(together.wait, static_cast<double>(step.uncovered_wait));
      together.durations.push_back(static_cast<double>(step.duration()));
    }
  }
  std::vector<Part> waits;
  for (const auto& [number, together] : by_number) {
    if (together.durations.size() != trainers.size()) continue;
    // The mean over ranks is the time that passes, even if one rank runs ahead of the others. A
    // step that is many times longer than another rank's contains a wait for something else, for
    // instance for an evaluation on that rank: it is capped.
    const double longest = kManyTimes * (std::ranges::min(together.durations) + together.wait);
    double sum = 0;
    for (const double duration : together.durations) sum += std::min(duration, longest);
    waits.push_back({together.wait, sum / static_cast<double>(trainers.size())});
  }
  return waits;
}

Breakdown MeanBreakdown(const std::vector<TrainerSteps>& trainers) {
  Breakdown sum;
  double all = 0;
  for (const TrainerSteps& trainer : trainers) {
    for (const StepRecord& step : trainer.steps) {
      all += static_cast<double>(step.duration());
      sum.input_wait += static_cast<double>(step.uncovered_wait);
      sum.copies += static_cast<double>(step.copies);
      sum.device_copies += static_cast<double>(step.device_copies);
      sum.exchange += static_cast<double>(step.exchange);
      sum.device += static_cast<double>(step.device);
    }
  }
  if (all <= 0) return {};
  sum.other = 1;
  for (double* part :
       {&sum.input_wait, &sum.copies, &sum.device_copies, &sum.exchange, &sum.device}) {
    *part /= all;
    sum.other -= *part;
  }
  sum.other = std::max(0.0, sum.other);
  return sum;
}

}  // namespace recpack::probe

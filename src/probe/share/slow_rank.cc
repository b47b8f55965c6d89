#include "src/probe/share/slow_rank.h"

#include <algorithm>
#include <numeric>

#include "src/probe/share/combine_steps.h"

namespace recpack::probe {
namespace {

constexpr double kMuchWaiting = 0.1;
constexpr double kSpared = 0.5;  // of a long wait, the most that those wait who are spared it

}  // namespace

double ShareOfTime(const TrainerSteps& trainer, int64_t StepRecord::*what) {
  double sum = 0, all = 0;
  for (const StepRecord& step : trainer.steps) {
    sum += static_cast<double>(step.*what);
    all += static_cast<double>(step.duration());
  }
  return all > 0 ? sum / all : 0;
}

size_t WaitsLongest(const std::vector<TrainerSteps>& trainers) {
  const auto longest = std::ranges::max_element(trainers, {}, [](const TrainerSteps& trainer) {
    return ShareOfTime(trainer, &StepRecord::uncovered_wait);
  });
  return static_cast<size_t>(longest - trainers.begin());
}

InputWait CompareInputWait(const std::vector<TrainerSteps>& trainers, size_t trainer) {
  InputWait found{.trainer = trainer};
  for (size_t i = 0; i < trainers.size(); ++i) {
    (i == found.trainer ? found.own : found.others) +=
        ShareOfTime(trainers[i], &StepRecord::uncovered_wait);
  }
  found.others /= static_cast<double>(trainers.size() - 1);
  found.alone = found.others <= kSpared * found.own;
  return found;
}

InputWait FindLongestWait(const std::vector<TrainerSteps>& trainers) {
  return CompareInputWait(trainers, WaitsLongest(trainers));
}

SlowRank WaitsLeast(const std::vector<double>& waits) {
  const auto slowest = std::min_element(waits.begin(), waits.end());
  const double others = (std::accumulate(waits.begin(), waits.end(), 0.0) - *slowest) /
                        static_cast<double>(waits.size() - 1);
  return {.rank = static_cast<size_t>(slowest - waits.begin()),
          .own = *slowest,
          .others = others,
          .much = others > kMuchWaiting && *slowest < kSpared * others};
}

std::optional<SlowRank> FindSlowRank(const std::vector<TrainerSteps>& trainers) {
  if (!RunInLockstep(trainers)) return {};
  std::vector<double> waits;
  waits.reserve(trainers.size());
  for (const TrainerSteps& trainer : trainers) {
    waits.push_back(ShareOfTime(trainer, &StepRecord::exchange));
  }
  return WaitsLeast(waits);
}

Breakdown StepParts(const std::vector<TrainerSteps>& trainers, const Verdict& verdict) {
  const auto slow = FindSlowRank(trainers);
  return slow ? MeanBreakdown({trainers[slow->rank]}) : verdict.breakdown;
}

}  // namespace recpack::probe

#include "src/probe/causes/shared_loader.h"

#include <algorithm>

#include "src/base/format.h"
#include "src/probe/evidence/loader_work.h"
#include "src/probe/share/slow_rank.h"

namespace recpack::probe {
namespace {

constexpr double kReady = 0.75;         // of the workers' time, waiting for a free slot
constexpr double kLongWait = 0.1;       // of a device's time
constexpr double kHardlyWaiting = 0.5;  // of the longest wait, the most of the slow device

}  // namespace

std::string CountWaitsForSlowDevice(const Evidence& evidence, std::vector<TrainerSteps>& trainers) {
  const auto work = FindLoaderWork(evidence.loaders);
  if (trainers.size() < 2 || !work || work->Share(Stage::kRoom) < kReady) return {};
  const bool is_shared = std::ranges::none_of(evidence.loaders, [&](const LoaderSample& sample) {
    return sample.process == work->process && sample.stats.number != work->number;
  });
  if (!is_shared) return {};  // a loader for each device
  double least = 1, most = 0;
  for (const TrainerSteps& trainer : trainers) {
    if (trainer.process != work->process || trainer.steps.empty()) return {};
    const double wait = ShareOfTime(trainer, &StepRecord::uncovered_wait);
    least = std::min(least, wait);
    most = std::max(most, wait);
  }
  if (most < kLongWait || least > kHardlyWaiting * most) return {};
  for (TrainerSteps& trainer : trainers) {
    for (StepRecord& step : trainer.steps) {
      // The slow device hands over as well: each goes in step with the others.
      step.exchange = std::max<int64_t>(1, step.exchange + step.uncovered_wait);
      step.input_wait -= step.uncovered_wait;
      step.uncovered_wait = 0;
    }
  }
  return format(
      "the loader had batches ready {} of the time: devices that waited for one waited for the "
      "slowest device, with which they share the loader",
      Percent(work->Share(Stage::kRoom)));
}

}  // namespace recpack::probe

#include "src/base/format.h"
#include "src/probe/causes/rules.h"
#include "src/probe/share/slow_rank.h"
#include "src/probe/util/units.h"

namespace recpack::probe {

void TrainingThread(const Situation& situation, Found& found) {
  if (situation.work != nullptr || situation.pipeline.ahead) return;
  const TrainerSteps& trainer = situation.trainers[WaitsLongest(situation.trainers)];
  double waits = 0, busy = 0;
  for (const StepRecord& step : trainer.steps) {
    waits += static_cast<double>(step.input_wait);
    busy += static_cast<double>(step.busy_wait);
  }
  if (waits <= 0) return;
  const InputSettings* const settings = FindSettings(situation.evidence, trainer.process);
  const bool no_workers = settings != nullptr && settings->has_no_workers();
  // Traces of other profilers do not say how busy it was.
  const std::string own =
      busy > 0 ? format("the training thread itself was busy {} of its waits for input",
                        Percent(busy / waits))
               : "the training thread makes its batches itself";
  found.causes.push_back(
      {.bottleneck = Bottleneck::kTrainingThread,
       .saves = situation.pipeline.wait,
       .evidence = {(no_workers ? "the DataLoader has no workers; " : "") + own}});
}

}  // namespace recpack::probe

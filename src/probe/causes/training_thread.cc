#include <algorithm>
#include <map>

#include "src/base/format.h"
#include "src/probe/causes/program_cures.h"
#include "src/probe/causes/rules.h"
#include "src/probe/share/slow_rank.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr uint32_t kMostWorkers = 16;  // to advise for machines that are not known
constexpr double kLeastOwn = 0.01;     // of step time

// The training thread's work on its batches.
struct OwnWork {
  const InputSettings* settings = nullptr;  // of the DataLoader; nullptr: it is not one
  double busy = 0;                      // share of its waits for input in which it ran; 0: unknown
  std::map<Bottleneck, double> stages;  // shares of the work
};

OwnWork FindOwnWork(const Situation& situation, const TrainerSteps& trainer) {
  OwnWork work;
  const InputSettings* const settings = FindSettings(situation.evidence, trainer.process);
  if (settings != nullptr && settings->has_no_workers()) work.settings = settings;
  work.busy = BusyInWaits(trainer);
  for (const InputWork& each : situation.evidence.input_works) {
    if (each.process == trainer.process) work.stages = each.own;
  }
  double all = 0;
  for (const auto& [stage, share] : work.stages) all += share;
  for (auto& [stage, share] : work.stages) share = all > 0 ? share / all : 0;
  return work;
}

bool KnowsCores(const Situation& situation) {
  return situation.evidence.system && situation.evidence.system->allowed_cores > 0;
}

// Workers that would be in time, as far as there are processors for them.
uint32_t EnoughWorkers(const Situation& situation) {
  const double needed =
      1 + situation.pipeline.making / std::max(kLeastOwn, situation.pipeline.own());
  const uint32_t most = KnowsCores(situation)
                            ? static_cast<uint32_t>(situation.evidence.system->allowed_cores)
                            : kMostWorkers;
  return std::clamp(static_cast<uint32_t>(needed), 1U, most);
}

// What workers would save: they share the processors with the step, where that runs on them.
double SavedByWorkers(const Situation& situation, const OwnWork& work) {
  const Pipeline& pipeline = situation.pipeline;
  if (!KnowsCores(situation)) return pipeline.wait;
  const SystemRates& system = *situation.evidence.system;
  const double cores = std::max(1.0, system.allowed_cores - system.others_cores.value_or(0));
  const double computing = pipeline.making * (work.busy > 0 ? work.busy : 1) +
                           (situation.evidence.accelerators ? 0 : pipeline.own());
  const double step =
      std::max({pipeline.own(), computing / cores, pipeline.making / EnoughWorkers(situation)});
  return std::clamp(1 - step, 0.0, pipeline.wait);
}

}  // namespace

void TrainingThread(const Situation& situation, Found& found) {
  if (situation.work != nullptr || situation.pipeline.ahead) return;
  const TrainerSteps& trainer = situation.trainers[WaitsLongest(situation.trainers)];
  if (ShareOfTime(trainer, &StepRecord::input_wait) <= 0) return;
  const OwnWork work = FindOwnWork(situation, trainer);
  for (const auto& [stage, share] : work.stages) {
    if (stage == Bottleneck::kUnknown) continue;
    found.causes.push_back(
        {.bottleneck = stage,
         .saves = situation.pipeline.Saved(situation.pipeline.making * share),
         .weight = share,
         .evidence = {
             format("the training thread makes its batches itself: {} of that work is in {}",
                    Percent(share), BottleneckName(stage))}});
  }
  Cause cause{
      .bottleneck = Bottleneck::kTrainingThread,
      .saves = situation.pipeline.wait,
      .evidence = {work.busy > 0
                       ? format("the training thread itself was busy {} of its waits for input",
                                Percent(work.busy))
                       : "the training thread makes its batches itself"}};
  if (work.settings != nullptr) {
    cause.evidence.front().insert(0, "the DataLoader has no workers; ");
    cause.saves = SavedByWorkers(situation, work);
    if (*cause.saves < Verdict::kWorthNaming && !work.stages.empty()) return;
    cause.cure = WorkersCure(*work.settings, EnoughWorkers(situation));
    if (!KnowsCores(situation)) cause.cure += ", as far as there are processors for them";
    cause.where = PlaceOfSettings(*work.settings);
  }
  found.causes.push_back(std::move(cause));
}

}  // namespace recpack::probe

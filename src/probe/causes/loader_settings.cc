#include <algorithm>
#include <cmath>

#include "src/base/format.h"
#include "src/probe/causes/program_cures.h"
#include "src/probe/causes/rules.h"
#include "src/probe/share/slow_rank.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr double kMargin = 1.1;  // workers more than would just be enough
constexpr uint32_t kMostWorkers = 64;
constexpr double kLittleWork = 0.2;               // of a processor: a worker that hardly needs one
constexpr double kLittleSaved = 0.02;             // of step time
constexpr double kThreadBusy = 0.7;               // of the time
constexpr uint32_t kFewMade = 2;                  // loaders at one line, such as those of two sets
constexpr char kPinningThread[] = "pt_data_pin";  // PyTorch names it so

double IdleProcessors(const SystemRates& system) {
  return std::max(0.0, system.allowed_cores - system.tree_cores - system.others_cores.value_or(0));
}

// Number of workers that would be in time, as far as there are processors for them.
uint32_t EnoughWorkers(const Situation& situation, const InputSettings& settings) {
  const Pipeline& pipeline = situation.pipeline;
  const double present = settings.workers;
  double enough = std::ceil(kMargin * present * pipeline.making / std::max(0.01, pipeline.own()));
  const auto workers = FindWorkers(situation.evidence);
  if (workers.empty()) return settings.workers;
  double wants = 0;
  for (const ThreadRates* worker : workers) wants += Wanted(*worker);
  wants /= static_cast<double>(workers.size());
  const double idle = IdleProcessors(*situation.evidence.system);
  if (wants > kLittleWork) enough = std::min(enough, present + std::floor(idle / wants));
  return static_cast<uint32_t>(
      std::clamp<double>(enough, present, std::max<double>(present, kMostWorkers)));
}

void TooFewWorkers(const Situation& situation, const InputSettings& settings, Found& found) {
  if (settings.workers == 0 || !situation.evidence.system) return;
  const uint32_t enough = EnoughWorkers(situation, settings);
  if (enough <= settings.workers) return;
  const Pipeline& pipeline = situation.pipeline;
  const double saves =
      pipeline.Saved(pipeline.making * (1 - static_cast<double>(settings.workers) / enough));
  if (saves < kLittleSaved) return;
  const SystemRates& system = *situation.evidence.system;
  found.causes.push_back(
      {.bottleneck = Bottleneck::kWorkers,
       .saves = saves,
       .evidence = {format("the DataLoader has {} workers, which work {} of their time",
                           settings.workers, Percent(pipeline.making)),
                    format("{:.1f} of {} processors are idle", IdleProcessors(system),
                           system.allowed_cores)},
       .cure = WorkersCure(settings, enough),
       .where = PlaceOfSettings(settings)});
}

// Workers that are fast enough on average, while the training waits.
void TooLittlePrefetch(const Situation& situation, const InputSettings& settings, Found& found) {
  const Pipeline& pipeline = situation.pipeline;
  if (settings.workers == 0 || FindWorkers(situation.evidence).empty()) return;
  if (pipeline.restarts > kLittleSaved) return;  // workers that start have nothing ahead
  const double saves = pipeline.bursts();
  if (saves < Verdict::kWorthNaming) return;
  found.causes.push_back(
      {.bottleneck = Bottleneck::kPrefetch,
       .saves = saves,
       .evidence = {format("the workers work {} of their time, with {} batches ahead each: "
                           "batches come in bursts",
                           Percent(pipeline.making), settings.prefetch)},
       .cure = PrefetchCure(settings),
       .where = PlaceOfSettings(settings)});
}

void Restarts(const Situation& situation, const InputSettings& settings, Found& found) {
  const bool made_anew = settings.made > kFewMade;
  if (settings.workers == 0 || (settings.persistent && !made_anew)) return;
  double restarts = 0, waits = 0, all = 0;
  size_t count = 0;
  const TrainerSteps& trainer = situation.trainers[WaitsLongest(situation.trainers)];
  for (const StepRecord& step : trainer.steps) {
    restarts += static_cast<double>(step.restart);
    count += step.restart > 0 ? 1 : 0;
    waits += static_cast<double>(step.uncovered_wait);
    all += static_cast<double>(step.duration());
  }
  if (count == 0 || all <= 0 || count >= trainer.steps.size()) return;
  const double usual =
      std::max(0.0, waits - restarts) / static_cast<double>(trainer.steps.size() - count);
  const double saves = (std::min(restarts, waits) - static_cast<double>(count) * usual) / all;
  if (saves < kLittleSaved) return;
  found.causes.push_back(
      {.bottleneck = Bottleneck::kRestarts,
       .saves = saves,
       .evidence = {format("the DataLoader started its {} workers again {} times; starting them "
                           "and their first batch took {:.2f} s each time",
                           settings.workers, count, restarts * 1e-9 / static_cast<double>(count))},
       .cure = made_anew ? MakeOnceCure(settings) : PersistentCure(settings),
       .where = PlaceOfSettings(settings)});
}

void Pinning(const Situation& situation, const InputSettings& settings, Found& found) {
  if (!settings.pinned || !situation.evidence.system) return;
  for (const ThreadRates& thread : situation.evidence.system->threads) {
    if (thread.name != kPinningThread || Wanted(thread) < kThreadBusy) continue;
    if (!FindWorkers(situation.evidence).empty()) return;  // the workers are what is waited for
    found.causes.push_back(
        {.bottleneck = Bottleneck::kPinning,
         .saves = situation.pipeline.wait,
         .evidence = {format("the one thread that copies batches into pinned memory was busy {} of "
                             "the time, and the workers were not",
                             Percent(Wanted(thread)))},
         .cure = PinningCure(settings),
         .where = PlaceOfSettings(settings)});
    return;
  }
}

}  // namespace

void LoaderSettings(const Situation& situation, Found& found) {
  if (situation.work != nullptr) return;
  const InputSettings* const settings = SettingsOfLongest(situation.evidence, situation.trainers);
  if (settings == nullptr || !settings->loads()) return;
  TooFewWorkers(situation, *settings, found);
  TooLittlePrefetch(situation, *settings, found);
  Restarts(situation, *settings, found);
  Pinning(situation, *settings, found);
}

}  // namespace recpack::probe

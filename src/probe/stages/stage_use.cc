#include "src/probe/stages/stage_use.h"

#include <algorithm>
#include <ctime>
#include <functional>

#include "src/base/format.h"
#include "src/probe/stages/what_if.h"

namespace recpack::probe {
namespace {

constexpr double kMostlyWaiting = 0.5;
constexpr double kWorthSaying = 0.02;  // of the samples per second

std::string Cores(int threads, int cores) {
  return format("{} of {} core{}", std::min(threads, cores), cores, cores == 1 ? "" : "s");
}

// A change and the rates predicted for it.
struct Predicted {
  LoaderVariant change;
  WhatIf what_if;
};

std::vector<Predicted> PredictAll(const LoaderWork& work, const ceiling::LoaderCost& cost,
                                  const Ceilings& ceilings) {
  const ceiling::Scaling scaling = ceilings.scale();
  std::vector<Predicted> all;
  for (LoaderVariant& each : ListChanges(work, cost, ceilings)) {
    ceiling::LoaderChange alone = each.change;
    alone.alone = true;
    WhatIf what_if{.change = each.text,
                   .loader = ceiling::Predict(cost, alone, scaling),
                   .training = ceiling::Predict(cost, each.change, scaling)};
    all.push_back({std::move(each), std::move(what_if)});
  }
  return all;
}

// "`--cache records` would give 1.8×", best first; at most two.
std::string Cures(const std::vector<Predicted>& all, Stage stage, double per_second) {
  std::vector<const Predicted*> helping;
  for (const Predicted& each : all) {
    const bool helps = each.change.helps == stage;
    if (helps && each.what_if.training > per_second * (1 + kWorthSaying)) helping.push_back(&each);
  }
  std::ranges::sort(helping, std::greater(),
                    [](const Predicted* each) { return each->what_if.training; });
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(2, helping.size()); ++i) {
    text += format("{}{} would give {:.2f}×", i == 0 ? "" : ", ", helping[i]->what_if.change,
                   helping[i]->what_if.training / per_second);
  }
  return text;
}

// "4 threads would give 1.9×", or that more threads do not help.
std::string MoreThreads(const std::vector<Predicted>& all, const ceiling::LoaderCost& cost,
                        int cores) {
  const Predicted* best = nullptr;
  for (const Predicted& each : all) {
    if (each.change.change.threads <= cost.threads) continue;
    if (each.what_if.training <= cost.per_second * (1 + kWorthSaying)) continue;
    const bool more =
        best == nullptr || each.what_if.training > best->what_if.training * (1 + kWorthSaying);
    if (more) best = &each;
  }
  if (best != nullptr) {
    return format("{} would give {:.2f}×", best->what_if.change,
                  best->what_if.training / cost.per_second);
  }
  return cost.threads < cores ? "more threads would not help" : "more threads cannot help";
}

std::string Joined(const std::string& one, const std::string& other) {
  return one + (one.empty() || other.empty() ? "" : "; ") + other;
}

std::string Sentence(const LoaderUse& use, const ceiling::LoaderCost& cost,
                     const std::vector<Predicted>& all) {
  if (use.room_share > kMostlyWaiting) {
    return format(
        "the workers wait {} of their time for a free slot: the loader is faster than its "
        "consumer, "
        "and a faster one would gain nothing",
        Percent(use.room_share, 0));
  }
  if (use.stages.empty()) return "";
  const StageUse& most = use.stages.front();
  std::string text =
      format("{} takes {} of the workers' time", StageName(most.stage), Percent(most.share, 0));
  if (const auto share = most.ceiling_share(); share && !most.exceeds_ceiling()) {
    text = format("{} runs at {} of its ceiling on {}", StageName(most.stage), Percent(*share, 0),
                  Cores(use.threads, use.cores));
  }
  if (all.empty()) return text;
  text = Joined(text, MoreThreads(all, cost, use.cores));
  return Joined(text, Cures(all, most.stage, cost.per_second));
}

std::string CeilingsSource(const std::optional<Ceilings>& ceilings) {
  if (!ceilings) {
    return "this machine has no ceilings yet: run `recprobe doctor --data SHARDS` once";
  }
  const auto age = static_cast<int64_t>(std::time(nullptr)) - ceilings->measured_at;
  return format("ceilings of `recprobe doctor`, {} h ago{}{}; storage: {}",
                std::max<int64_t>(0, age / 3600),
                ceilings->disturbed() ? ", too low because the machine was busy" : "",
                ceilings->data.empty() ? ", synthetic pictures" : ", with " + ceilings->data,
                ceilings->storage);
}

StageUse MakeStageUse(const LoaderWork& work, Stage stage,
                      const std::optional<Ceilings>& ceilings) {
  StageUse use{.stage = stage, .share = work.Share(stage)};
  const auto threads = static_cast<double>(work.workers);
  use.rate = threads / StageCost(work, stage);
  use.ceiling = Unavailable{"run `recprobe doctor`"};
  if (ceilings) {
    use.ceiling = StageCeiling(work, stage, *ceilings,
                               std::min(static_cast<int>(work.workers), ceilings->cores));
  }
  return use;
}

}  // namespace

Reading<double> StageUse::ceiling_share() const {
  if (!ceiling) return Unavailable{ceiling.reason()};
  if (!rate) return Unavailable{rate.reason()};
  return *rate / *ceiling;
}

bool StageUse::exceeds_ceiling() const {
  constexpr double kMost = 1.05;  // tables.js has the same
  const auto reached = ceiling_share();
  return reached && *reached > kMost;
}

std::optional<LoaderUse> MakeLoaderUse(const Evidence& evidence,
                                       const std::optional<Ceilings>& ceilings) {
  const auto work = FindLoaderWork(evidence.loaders);
  if (!work || work->samples <= 0 || work->seconds <= 0 || work->workers == 0) return std::nullopt;
  LoaderUse use{.process = work->process,
                .number = work->number,
                .threads = static_cast<int>(work->workers),
                .per_second = work->samples_per_second,
                .room_share = work->Share(Stage::kRoom),
                .ceilings = CeilingsSource(ceilings)};
  use.cores = ceilings ? ceilings->cores : evidence.system ? evidence.system->allowed_cores : 0;
  const SystemRates* system = evidence.system ? &*evidence.system : nullptr;
  const ceiling::LoaderCost cost = MakeLoaderCost(*work, system, std::max(1, use.cores));
  if (cost.consumer > 0) use.consumer_per_second = 1 / cost.consumer;
  std::vector<Predicted> all;
  if (ceilings) all = PredictAll(*work, cost, *ceilings);
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (stage == Stage::kRoom || work->stages[i].time.count() <= 0) continue;
    use.stages.push_back(MakeStageUse(*work, stage, ceilings));
    use.stages.back().next = Cures(all, stage, cost.per_second);
  }
  std::ranges::sort(use.stages, std::greater(), &StageUse::share);
  use.next = Sentence(use, cost, all);
  if (!ceilings) return use;
  use.what_if.push_back({.change = "as it is",
                         .loader = ceiling::Predict(cost, {.alone = true}, ceilings->scale()),
                         .training = cost.per_second});
  for (Predicted& each : all) use.what_if.push_back(std::move(each.what_if));
  return use;
}

}  // namespace recpack::probe

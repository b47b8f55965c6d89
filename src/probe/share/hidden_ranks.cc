#include "src/probe/share/hidden_ranks.h"

#include <algorithm>
#include <set>

#include "src/probe/share/combine_steps.h"

namespace recpack::probe {

namespace {

constexpr size_t kFewestExchanges = 3;

// Returns nullptr if the process reports no rank.
const ProcessRank* Find(const TrainerSteps& trainer, const std::vector<ProcessRank>& reported) {
  const auto rank = std::ranges::find(reported, trainer.process, &ProcessRank::process);
  return rank == reported.end() ? nullptr : &*rank;
}

// Mean time of a step [ns]; 0 without steps.
double StepTime(const TrainerSteps& trainer) {
  double all = 0;
  for (const StepRecord& step : trainer.steps) all += static_cast<double>(step.duration());
  return trainer.steps.empty() ? 0 : all / static_cast<double>(trainer.steps.size());
}

// A rank's wait in the step of which another one told at a time; 0 if it told of none then, as the
// one that is last does.
int64_t WaitAt(const GradientExchange& exchange, int64_t told, int64_t apart) {
  const auto& waits = exchange.waits;
  const auto after =
      std::ranges::lower_bound(waits, told - apart, {}, &GradientExchange::Wait::told);
  return after == waits.end() || after->told > told + apart ? 0 : after->length;
}

// Mean over steps of what the rank waits that waits least [ns]. `step`: mean time of one [ns].
double MeanLeastWait(const std::vector<const GradientExchange*>& ranks, double step) {
  const GradientExchange& most = **std::ranges::max_element(
      ranks, {}, [](const GradientExchange* rank) { return rank->waits.size(); });
  // The ranks go in step, and measure one step of many.
  const auto apart = static_cast<int64_t>(2 * step);
  double sum = 0;
  for (const GradientExchange::Wait& wait : most.waits) {
    int64_t least = wait.length;
    for (const GradientExchange* rank : ranks) {
      least = std::min(least, WaitAt(*rank, wait.told, apart));
    }
    sum += static_cast<double>(least);
  }
  return most.waits.empty() ? 0 : sum / static_cast<double>(most.waits.size());
}

}  // namespace

std::vector<ProcessRank> FindRanks(const std::vector<TrainerSteps>& trainers,
                                   const std::vector<ProcessRank>& reported) {
  std::vector<ProcessRank> ranks;
  for (const TrainerSteps& trainer : trainers) {
    if (const ProcessRank* const rank = Find(trainer, reported)) ranks.push_back(*rank);
  }
  return ranks;
}

size_t DropEarlierStarts(const std::vector<ProcessRank>& reported,
                         std::vector<TrainerSteps>& trainers) {
  const auto is_rank = [&](const TrainerSteps& trainer) {
    return !trainer.steps.empty() && Find(trainer, reported) != nullptr;
  };
  int64_t last_start = 0;
  for (const TrainerSteps& trainer : trainers) {
    if (is_rank(trainer)) last_start = std::max(last_start, trainer.steps.front().begin);
  }
  return std::erase_if(trainers, [&](const TrainerSteps& trainer) {
    return is_rank(trainer) && trainer.steps.back().end <= last_start;
  });
}

std::vector<ProcessRank> JobRanks(const std::vector<TrainerSteps>& trainers,
                                  const std::vector<ProcessRank>& reported) {
  std::vector<ProcessRank> ranks = FindRanks(trainers, reported);
  std::set<uint32_t> numbers;
  for (const ProcessRank& rank : ranks) {
    if (rank.size != ranks.front().size || !numbers.insert(rank.rank).second) return {};
  }
  if (ranks.size() < 2 || ranks.size() < trainers.size()) ranks.clear();
  return ranks;
}

size_t RankNumber(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                  size_t trainer) {
  const std::vector<ProcessRank> ranks = JobRanks(trainers, evidence.ranks);
  return ranks.empty() ? trainer : ranks[trainer].rank;
}

bool AreHiddenRanks(const Evidence& evidence, const std::vector<TrainerSteps>& trainers) {
  return !RunInLockstep(trainers) && !JobRanks(trainers, evidence.ranks).empty();
}

std::vector<const GradientExchange*> FindExchanges(const Evidence& evidence,
                                                   const std::vector<TrainerSteps>& trainers) {
  std::vector<const GradientExchange*> found;
  if (!AreHiddenRanks(evidence, trainers)) return found;
  for (const TrainerSteps& trainer : trainers) {
    const auto exchange =
        std::ranges::find(evidence.exchanges, trainer.process, &GradientExchange::process);
    const bool measured =
        exchange != evidence.exchanges.end() && exchange->steps >= kFewestExchanges;
    if (!measured || StepTime(trainer) <= 0) return {};
    found.push_back(&*exchange);
  }
  return found;
}

double ShareOfExchanges(const Evidence& evidence, const std::vector<TrainerSteps>& trainers) {
  const auto exchanges = FindExchanges(evidence, trainers);
  if (exchanges.empty()) return 0;
  double time = 0;
  for (const TrainerSteps& trainer : trainers) {
    time += StepTime(trainer) / static_cast<double>(trainers.size());
  }
  return MeanLeastWait(exchanges, time) / time;
}

std::optional<SlowRank> FindSlowHiddenRank(const Evidence& evidence,
                                           const std::vector<TrainerSteps>& trainers) {
  const auto exchanges = FindExchanges(evidence, trainers);
  if (exchanges.empty()) return {};
  std::vector<double> waits;
  waits.reserve(exchanges.size());
  for (size_t i = 0; i < exchanges.size(); ++i) {
    waits.push_back(exchanges[i]->wait / StepTime(trainers[i]));
  }
  return WaitsLeast(waits);
}

bool StepsAreOwnWork(const Evidence& evidence, const std::vector<TrainerSteps>& trainers) {
  return !evidence.accelerators && !AreHiddenRanks(evidence, trainers);
}

}  // namespace recpack::probe

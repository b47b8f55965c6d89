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

std::vector<double> WaitsForGradients(const Evidence& evidence,
                                      const std::vector<TrainerSteps>& trainers) {
  std::vector<double> waits;
  if (!AreHiddenRanks(evidence, trainers)) return waits;
  waits.reserve(trainers.size());
  for (const TrainerSteps& trainer : trainers) {
    const auto exchange =
        std::ranges::find(evidence.exchanges, trainer.process, &GradientExchange::process);
    if (exchange == evidence.exchanges.end() || exchange->steps < kFewestExchanges) return {};
    double all = 0;
    for (const StepRecord& step : trainer.steps) all += static_cast<double>(step.duration());
    if (all <= 0) return {};
    waits.push_back(exchange->wait * static_cast<double>(trainer.steps.size()) / all);
  }
  return waits;
}

std::optional<SlowRank> FindSlowHiddenRank(const Evidence& evidence,
                                           const std::vector<TrainerSteps>& trainers) {
  const std::vector<double> waits = WaitsForGradients(evidence, trainers);
  if (waits.empty()) return {};
  return WaitsLeast(waits);
}

bool StepsAreOwnWork(const Evidence& evidence, const std::vector<TrainerSteps>& trainers) {
  return !evidence.accelerators && !AreHiddenRanks(evidence, trainers);
}

}  // namespace recpack::probe

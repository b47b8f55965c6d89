#include "src/probe/causes/hidden_ranks.h"

#include <algorithm>
#include <set>

#include "src/probe/causes/combine_steps.h"

namespace recpack::probe {

namespace {

// Null: it did not tell of one.
const ProcessRank* Told(const TrainerSteps& trainer, const std::vector<ProcessRank>& told) {
  const auto rank = std::ranges::find(told, trainer.process, &ProcessRank::process);
  return rank == told.end() ? nullptr : &*rank;
}

}  // namespace

std::vector<ProcessRank> ToldOf(const std::vector<TrainerSteps>& trainers,
                                const std::vector<ProcessRank>& told) {
  std::vector<ProcessRank> ranks;
  for (const TrainerSteps& trainer : trainers) {
    if (const ProcessRank* const rank = Told(trainer, told)) ranks.push_back(*rank);
  }
  return ranks;
}

size_t LeaveOutEarlierStarts(const std::vector<ProcessRank>& told,
                             std::vector<TrainerSteps>& trainers) {
  const auto is_rank = [&](const TrainerSteps& trainer) {
    return !trainer.steps.empty() && Told(trainer, told) != nullptr;
  };
  int64_t last_start = 0;
  for (const TrainerSteps& trainer : trainers) {
    if (is_rank(trainer)) last_start = std::max(last_start, trainer.steps.front().begin);
  }
  return std::erase_if(trainers, [&](const TrainerSteps& trainer) {
    return is_rank(trainer) && trainer.steps.back().end <= last_start;
  });
}

std::vector<ProcessRank> RanksOf(const std::vector<TrainerSteps>& trainers,
                                 const std::vector<ProcessRank>& told) {
  std::vector<ProcessRank> ranks = ToldOf(trainers, told);
  std::set<uint32_t> numbers;
  for (const ProcessRank& rank : ranks) {
    if (rank.size != ranks.front().size || !numbers.insert(rank.rank).second) return {};
  }
  if (ranks.size() < 2 || ranks.size() < trainers.size()) ranks.clear();
  return ranks;
}

size_t RankOf(const Evidence& evidence, const std::vector<TrainerSteps>& trainers, size_t trainer) {
  const std::vector<ProcessRank> ranks = RanksOf(trainers, evidence.ranks);
  return ranks.empty() ? trainer : ranks[trainer].rank;
}

bool AreHiddenRanks(const Evidence& evidence, const std::vector<TrainerSteps>& trainers) {
  return !GoInStep(trainers) && !RanksOf(trainers, evidence.ranks).empty();
}

bool StepsAreOwnWork(const Evidence& evidence, const std::vector<TrainerSteps>& trainers) {
  return !evidence.accelerators && !AreHiddenRanks(evidence, trainers);
}

}  // namespace recpack::probe

#include "src/probe/causes/own_input.h"

#include "src/probe/share/hidden_ranks.h"
#include "src/probe/share/slow_rank.h"

namespace recpack::probe {
namespace {

constexpr double kWaitsMuch = 0.05;  // of step time
constexpr double kSpared = 0.5;      // of that wait, the most that the others may wait

}  // namespace

const TrainerSteps* FindSlowestInput(const Evidence& evidence,
                                     const std::vector<TrainerSteps>& trainers) {
  if (JobRanks(trainers, evidence.ranks).empty()) return nullptr;
  const size_t longest = WaitsLongest(trainers);
  double own = 0, others = 0;
  for (size_t i = 0; i < trainers.size(); ++i) {
    (i == longest ? own : others) += ShareOfTime(trainers[i], &StepRecord::uncovered_wait);
  }
  others /= static_cast<double>(trainers.size() - 1);
  if (own < kWaitsMuch || others > kSpared * own) return nullptr;
  const auto lines = evidence.lines_of.find(trainers[longest].process);
  if (lines == evidence.lines_of.end() || lines->second.empty()) return nullptr;
  return &trainers[longest];
}

Evidence WithInputOf(const TrainerSteps& trainer, const Evidence& evidence) {
  Evidence own = evidence;
  own.lines = evidence.lines_of.at(trainer.process);
  std::erase_if(own.input_works, [&](const InputWork& work) {
    return work.trainer != 0 && work.trainer != trainer.process;
  });
  return own;
}

}  // namespace recpack::probe

#include "src/probe/causes/own_input.h"

#include "src/probe/share/hidden_ranks.h"
#include "src/probe/share/slow_rank.h"

namespace recpack::probe {
namespace {

constexpr double kWaitsMuch = 0.05;  // of step time

}  // namespace

const TrainerSteps* FindSlowestInput(const Evidence& evidence,
                                     const std::vector<TrainerSteps>& trainers) {
  if (JobRanks(trainers, evidence.ranks).empty()) return nullptr;
  const InputWait longest = FindLongestWait(trainers);
  if (longest.own < kWaitsMuch || !longest.alone) return nullptr;
  const TrainerSteps& trainer = trainers[longest.trainer];
  const auto lines = evidence.lines_of.find(trainer.process);
  if (lines == evidence.lines_of.end() || lines->second.empty()) return nullptr;
  return &trainer;
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

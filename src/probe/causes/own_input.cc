#include "src/probe/causes/own_input.h"

#include <utility>

#include "src/base/format.h"
#include "src/probe/share/hidden_ranks.h"
#include "src/probe/share/slow_rank.h"

namespace recpack::probe {
namespace {

constexpr double kWaitsMuch = 0.05;  // of step time

}  // namespace

std::optional<Evidence> OfSlowestInput(const Evidence& evidence,
                                       const std::vector<TrainerSteps>& trainers,
                                       std::vector<std::string>& notes) {
  if (trainers.size() < 2) return {};
  const size_t at = WaitsLongest(trainers);
  const TrainerSteps& slowest = trainers[at];
  const double share = ShareOfTime(slowest, &StepRecord::uncovered_wait);
  if (share < kWaitsMuch) return {};
  const auto lines = evidence.lines_of.find(slowest.process);
  if (lines == evidence.lines_of.end()) return {};
  Evidence own = evidence;
  own.lines = lines->second;
  std::erase_if(own.input_works, [&](const InputWork& work) {
    return work.trainer != 0 && work.trainer != slowest.process;
  });
  notes.push_back(format(
      "rank {} waits longest for its input, {} of its time: lines and input threads are those "
      "of it and its workers",
      RankNumber(evidence, trainers, at), Percent(share)));
  return own;
}

}  // namespace recpack::probe

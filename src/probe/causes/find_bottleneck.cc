#include "src/base/format.h"
#include "src/probe/causes/combine_steps.h"
#include "src/probe/causes/hidden_ranks.h"
#include "src/probe/causes/input_share.h"
#include "src/probe/causes/rules.h"
#include "src/probe/causes/slow_rank.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr double kMuchExchange = 0.1;  // of step time
constexpr double kModelBusy = 0.75;    // of step time: nothing else matters
constexpr double kMuchCopying = 0.1;
constexpr double kSurelyInput = 0.02;
constexpr double kMuchUnlike = 0.1;  // of its time, the input wait of the slowest rank
constexpr double kSpared = 0.5;      // of that wait, the most that the others may wait

// Sets the verdict's rank and returns the evidence for it.
std::string Name(const SlowRank& slow, const Evidence& evidence,
                 const std::vector<TrainerSteps>& trainers, Verdict& verdict) {
  verdict.rank = RankNumber(evidence, trainers, slow.rank);
  return format(
      "trainer {} (process {}) waited {} of its time for the others; they waited {} for it",
      *verdict.rank, trainers[slow.rank].process, Percent(slow.own), Percent(slow.others));
}

// The slow rank is the one that waits least for the others.
bool OneIsSlow(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
               Verdict& verdict) {
  const auto slow = FindSlowRank(trainers);
  if (!slow || !slow->much) return false;
  verdict.bottleneck = Bottleneck::kSlowRank;
  const Breakdown parts = MeanBreakdown({trainers[slow->rank]});
  verdict.evidence = {
      Name(*slow, evidence, trainers, verdict),
      format("it computed {} of its time; its input took {}, copies {}, the rest of the program {}",
             Percent(parts.device), Percent(parts.input_wait),
             Percent(parts.copies + parts.device_copies), Percent(parts.other))};
  return true;
}

// Names the rank whose input all others wait for.
void NameRank(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
              Verdict& verdict) {
  const auto slow = FindSlowRank(trainers);
  if (!slow || !slow->much) return;
  verdict.evidence.push_back(Name(*slow, evidence, trainers, verdict));
}

// The same for ranks whose waits for each other are not observed.
void NameHiddenRank(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                    Verdict& verdict) {
  if (!AreHiddenRanks(evidence, trainers)) return;
  const size_t longest = WaitsLongest(trainers);
  double own = 0, others = 0;
  for (size_t i = 0; i < trainers.size(); ++i) {
    (i == longest ? own : others) += ShareOfTime(trainers[i], &StepRecord::uncovered_wait);
  }
  others /= static_cast<double>(trainers.size() - 1);
  if (own < kMuchUnlike || others > kSpared * own) return;
  verdict.rank = RankNumber(evidence, trainers, longest);
  verdict.evidence.push_back(
      format("rank {} (process {}) waited {} of its time for its input, the others {} for theirs",
             *verdict.rank, trainers[longest].process, Percent(own), Percent(others)));
}

// Breakdown of the trainer that the others wait for, if there is one: their waits are not part of
// it.
Breakdown Parts(const std::vector<TrainerSteps>& trainers, const Verdict& verdict) {
  const auto slow = FindSlowRank(trainers);
  return slow ? MeanBreakdown({trainers[slow->rank]}) : verdict.breakdown;
}

// Bottlenecks of moving data: copies, and exchange between devices.
bool MovingIsSlow(const Breakdown& parts, Verdict& verdict) {
  const auto name = [&](Bottleneck bottleneck, const char* what, double share) {
    verdict.bottleneck = bottleneck;
    verdict.evidence = {format("{} of step time goes to {}", Percent(share), what)};
    return true;
  };
  if (parts.copies > kMuchCopying && parts.copies >= parts.device_copies) {
    return name(Bottleneck::kCopyToDevice, "copies to the device while it is otherwise idle",
                parts.copies);
  }
  if (parts.device_copies > kMuchCopying) {
    return name(Bottleneck::kCopyOnDevices,
                "copies within devices and between them, while they do not compute",
                parts.device_copies);
  }
  if (parts.exchange > kMuchExchange && parts.exchange > parts.other) {
    return name(Bottleneck::kExchange, "the exchange between devices", parts.exchange);
  }
  return false;
}

void FindOtherPlace(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                    Verdict& verdict) {
  if (OneIsSlow(evidence, trainers, verdict)) return;
  const Breakdown parts = Parts(trainers, verdict);
  if (MovingIsSlow(parts, verdict) || LockIsTaken(evidence, trainers.front(), verdict)) return;
  if (DevicesTakeTurns(trainers, verdict)) {
    ProcessorsAreTaken(evidence, 0, 1, verdict);  // a device may be a CPU
    return;
  }
  if (parts.device > kModelBusy) {
    if (ProcessorsAreTaken(evidence, 0, 1, verdict) || ClockIsThrottled(evidence, verdict)) return;
    verdict.bottleneck = Bottleneck::kModel;
    verdict.evidence = {format("{} of step time is the device's own work", Percent(parts.device))};
    return;
  }
  if (LaunchesAreSlow(trainers, parts, verdict)) return;
  // The device's work, or the rest of the step, was not observed.
  if (verdict.upper_bound || verdict.band == Band::kUnknown) {
    ClockIsThrottled(evidence, verdict);
    return;
  }
  verdict.bottleneck = Bottleneck::kHost;
  verdict.evidence = {
      format("{} of step time is neither input, exchange nor device work", Percent(parts.other))};
}

}  // namespace

void FindBottleneck(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                    Verdict& verdict) {
  // If a thread may prefetch, the lower end is 0: decide by the value, which is that thread's wait.
  const double surely =
      MayBeFetchedAhead(trainers) ? verdict.input_share.value : verdict.input_share.low;
  const bool input = verdict.band == Band::kModerately || verdict.band == Band::kHighly ||
                     (verdict.band == Band::kUndecided && surely > kSurelyInput);
  if (Hangs(evidence, trainers, verdict)) {
    verdict.cure = UsualCure(verdict.bottleneck);
    return;
  }
  if (input) {
    FindInputPlace(evidence, trainers, verdict);
    NameRank(evidence, trainers, verdict);
    NameHiddenRank(evidence, trainers, verdict);
  } else {
    FindOtherPlace(evidence, trainers, verdict);
  }
  if (verdict.cure.empty()) verdict.cure = UsualCure(verdict.bottleneck);
}

}  // namespace recpack::probe

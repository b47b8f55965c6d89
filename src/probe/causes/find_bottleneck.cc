#include "src/probe/causes/find_bottleneck.h"

#include "src/base/format.h"
#include "src/probe/causes/combine_steps.h"
#include "src/probe/causes/cures.h"
#include "src/probe/causes/device_place.h"
#include "src/probe/causes/hidden_ranks.h"
#include "src/probe/causes/input_place.h"
#include "src/probe/causes/input_share.h"
#include "src/probe/causes/interpreter_lock.h"
#include "src/probe/causes/slow_rank.h"
#include "src/probe/causes/taken_processors.h"
#include "src/probe/util/percent.h"

namespace recpack::probe {
namespace {

constexpr double kMuchExchange = 0.1;  // of step time
constexpr double kModelBusy = 0.75;    // of step time: nothing else is worth a look
constexpr double kMuchCopying = 0.1;
constexpr double kSurelyInput = 0.02;
constexpr double kMuchUnlike = 0.1;  // of its time, that one rank waits for its input
constexpr double kSpared = 0.5;      // of that, what the others wait for theirs at most

// Names it in the verdict, and says why.
std::string Name(const SlowRank& slow, const Evidence& evidence,
                 const std::vector<TrainerSteps>& trainers, Verdict& verdict) {
  verdict.rank = RankOf(evidence, trainers, slow.rank);
  return format("trainer {} (process {}) waited {} of its time for the others, these {} for it",
                *verdict.rank, trainers[slow.rank].process, Percent(slow.own),
                Percent(slow.others));
}

// All wait for the one that waits least for them.
bool OneIsSlow(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
               Verdict& verdict) {
  const auto slow = SlowestOf(trainers);
  if (!slow || !slow->much) return false;
  verdict.bottleneck = Bottleneck::kSlowRank;
  const Breakdown parts = BreakdownOf({trainers[slow->rank]});
  verdict.evidence = {
      Name(*slow, evidence, trainers, verdict),
      format("it computed {} of its time, its input took {}, copies {}, the rest of the program {}",
             Percent(parts.device), Percent(parts.input_wait),
             Percent(parts.copies + parts.device_copies), Percent(parts.other))};
  return true;
}

// Its input is what all wait for.
void NameRank(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
              Verdict& verdict) {
  const auto slow = SlowestOf(trainers);
  if (!slow || !slow->much) return;
  verdict.evidence.push_back(Name(*slow, evidence, trainers, verdict));
}

// The same of ranks of which nobody tells what they wait for each other.
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
  verdict.rank = RankOf(evidence, trainers, longest);
  verdict.evidence.push_back(
      format("rank {} (process {}) waited {} of its time for its input, the others {} for theirs",
             *verdict.rank, trainers[longest].process, Percent(own), Percent(others)));
}

// Of the trainer that the others wait for: what these wait for is none of its parts.
Breakdown PartsOf(const std::vector<TrainerSteps>& trainers, const Verdict& verdict) {
  const auto slow = SlowestOf(trainers);
  return slow ? BreakdownOf({trainers[slow->rank]}) : verdict.breakdown;
}

// Copies, and exchange between devices.
bool MovingIsSlow(const Breakdown& parts, Verdict& verdict) {
  const auto name = [&](Bottleneck bottleneck, const char* what, double share) {
    verdict.bottleneck = bottleneck;
    verdict.evidence = {format("{} of step time goes to {}", Percent(share), what)};
    return true;
  };
  if (parts.copies > kMuchCopying && parts.copies >= parts.device_copies) {
    return name(Bottleneck::kCopyToDevice, "copies to the device while it does nothing",
                parts.copies);
  }
  if (parts.device_copies > kMuchCopying) {
    return name(Bottleneck::kCopyOnDevices,
                "copies within devices and between them, while they compute nothing",
                parts.device_copies);
  }
  if (parts.exchange > kMuchExchange && parts.exchange > parts.other) {
    return name(Bottleneck::kExchange, "the exchange between devices", parts.exchange);
  }
  return false;
}

void NotOfInput(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                Verdict& verdict) {
  if (OneIsSlow(evidence, trainers, verdict)) return;
  const Breakdown parts = PartsOf(trainers, verdict);
  if (MovingIsSlow(parts, verdict) || LockIsTaken(evidence, trainers.front(), verdict)) return;
  if (DevicesTakeTurns(trainers, verdict)) {
    ProcessorsAreTaken(evidence, 0, 1, verdict);  // devices on the CPU may wait for these
    return;
  }
  if (parts.device > kModelBusy) {
    if (ProcessorsAreTaken(evidence, 0, 1, verdict) || ClockIsThrottled(evidence, verdict)) return;
    verdict.bottleneck = Bottleneck::kModel;
    verdict.evidence = {format("{} of step time is the device's own work", Percent(parts.device))};
    return;
  }
  if (LaunchesAreSlow(trainers, parts, verdict)) return;
  // What the device did is not known, or what the rest of the time went to.
  if (verdict.upper_bound || verdict.band == Band::kUnknown) {
    ClockIsThrottled(evidence, verdict);
    return;
  }
  verdict.bottleneck = Bottleneck::kHost;
  verdict.evidence = {format("{} of step time is neither input nor exchange nor the device's work",
                             Percent(parts.other))};
}

}  // namespace

void FindBottleneck(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                    Verdict& verdict) {
  // Where a thread may fetch ahead the waits are that thread's, and it is told what they are for.
  const double surely =
      MayBeFetchedAhead(trainers) ? verdict.input_share.value : verdict.input_share.low;
  const bool input = verdict.band == Band::kModerately || verdict.band == Band::kHighly ||
                     (verdict.band == Band::kUndecided && surely > kSurelyInput);
  if (Hangs(evidence, trainers, verdict)) {
    verdict.cure = CureOf(verdict.bottleneck);
    return;
  }
  if (input) {
    FindInputPlace(evidence, trainers, verdict);
    NameRank(evidence, trainers, verdict);
    NameHiddenRank(evidence, trainers, verdict);
  } else {
    NotOfInput(evidence, trainers, verdict);
  }
  if (verdict.cure.empty()) verdict.cure = CureOf(verdict.bottleneck);
}

}  // namespace recpack::probe

#include <algorithm>
#include <optional>

#include "src/base/format.h"
#include "src/probe/causes/find_lines.h"
#include "src/probe/causes/own_input.h"
#include "src/probe/causes/program_cures.h"
#include "src/probe/causes/rules.h"
#include "src/probe/share/combine_steps.h"
#include "src/probe/share/hidden_ranks.h"
#include "src/probe/share/input_share.h"
#include "src/probe/share/slow_rank.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr double kModelBusy = 0.75;  // of step time: nothing else matters
constexpr double kSurelyInput = 0.02;
constexpr double kMuchUnlike = 0.1;  // of its time, the input wait of the slowest rank
constexpr double kOfPasses = 0.5;    // of what the others wait for, the least that its passes take

std::string SlowRankText(const SlowRank& slow, const Evidence& evidence,
                         const std::vector<TrainerSteps>& trainers) {
  return format(
      "trainer {} (process {}) waited {} of its time for the others; they waited {} for it",
      RankNumber(evidence, trainers, slow.rank), trainers[slow.rank].process, Percent(slow.own),
      Percent(slow.others));
}

// The slow rank is the one that waits least for the others.
void OneIsSlow(const Evidence& evidence, const std::vector<TrainerSteps>& trainers, Found& found) {
  const auto slow = FindSlowRank(trainers);
  if (!slow || !slow->much) return;
  const Breakdown parts = MeanBreakdown({trainers[slow->rank]});
  found.causes.push_back(
      {.bottleneck = Bottleneck::kSlowRank,
       .saves = slow->others - slow->own,
       .evidence = {
           SlowRankText(*slow, evidence, trainers),
           format(
               "it computed {} of its time; its input took {}, copies {}, the rest of the program "
               "{}",
               Percent(parts.device), Percent(parts.input_wait),
               Percent(parts.copies + parts.device_copies), Percent(parts.other))}});
}

// Its own work and that of the others, as the ranks measured it before their exchanges.
std::string PassesText(const SlowRank& slow, const Evidence& evidence,
                       const std::vector<TrainerSteps>& trainers) {
  const auto exchanges = FindExchanges(evidence, trainers);
  const GradientExchange& own = *exchanges[slow.rank];
  double passes = -own.passes, waits = -own.wait;  // means of the others
  for (const GradientExchange* exchange : exchanges) {
    passes += exchange->passes;
    waits += exchange->wait;
  }
  const auto others = static_cast<double>(exchanges.size() - 1);
  passes /= others;
  waits /= others;
  const bool between = own.passes - passes < kOfPasses * (waits - own.wait);
  return format("its forward and backward pass took {:.1f} ms, those of the others {:.1f} ms{}",
                own.passes * 1e-6, passes * 1e-6,
                between ? ": they wait for what it does between steps" : "");
}

// The same for ranks of which only exchanges of gradients are known. What they wait for because the
// slow one waits for its input is left to the causes of that. `least`: that it must save.
void OneHiddenIsSlow(const Situation& situation, double least, Found& found) {
  const auto slow = FindSlowHiddenRank(situation.evidence, situation.trainers);
  if (!slow || !slow->much) return;
  const InputWait input = CompareInputWait(situation.trainers, slow->rank);
  const double saves = slow->others - slow->own - std::max(0.0, input.own - input.others);
  if (saves < least) return;
  found.causes.push_back({.bottleneck = Bottleneck::kSlowRank,
                          .saves = saves,
                          .evidence = {SlowRankText(*slow, situation.evidence, situation.trainers),
                                       PassesText(*slow, situation.evidence, situation.trainers)}});
}

// Names the rank that all others wait for.
void NameRank(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
              Verdict& verdict) {
  auto slow = FindSlowRank(trainers);
  if (!slow) slow = FindSlowHiddenRank(evidence, trainers);
  if (!slow || !slow->much) return;
  verdict.rank = RankNumber(evidence, trainers, slow->rank);
  if (verdict.bottleneck != Bottleneck::kSlowRank) {
    verdict.evidence.push_back(SlowRankText(*slow, evidence, trainers));
  }
}

// The same for ranks whose waits for each other are not observed.
void NameHiddenRank(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                    Verdict& verdict) {
  if (!AreHiddenRanks(evidence, trainers)) return;
  const InputWait longest = FindLongestWait(trainers);
  if (longest.own < kMuchUnlike || !longest.alone) return;
  verdict.rank = RankNumber(evidence, trainers, longest.trainer);
  verdict.evidence.push_back(
      format("rank {} (process {}) waited {} of its time for its input, the others {} for theirs",
             *verdict.rank, trainers[longest.trainer].process, Percent(longest.own),
             Percent(longest.others)));
}

Cause HostCause(const Breakdown& parts, std::optional<double> saves) {
  return {.bottleneck = Bottleneck::kHost,
          .saves = saves,
          .evidence = {format("{} of step time is neither input, exchange nor device work",
                              Percent(parts.other))}};
}

// Ranks on processors, whose waits for each other are not seen: what they do beside the model is
// known by the training threads' lines.
bool RanksRunOwnCode(const Situation& situation, Found& found) {
  if (!AreHiddenRanks(situation.evidence, situation.trainers)) return false;
  const double own = OwnCodeShare(situation.evidence.lines);
  if (own < Verdict::kWorthNaming) return false;
  found.causes.push_back(
      {.bottleneck = Bottleneck::kHost,
       .saves = own,
       .evidence = {format("{} of the training threads' time goes to a function beside the "
                           "model",
                           Percent(own))}});
  return true;
}

// Rules for a training that waits for its input. Their order does not matter.
constexpr Rule kInputRules[] = {LoaderStages,  InputWorkInPython, TakenProcessors, InterpreterLock,
                                WaitsForDisks, TrainingThread,    LoaderSettings,  MovingData};

void FindInputCauses(const Situation& situation, Found& found) {
  for (const Rule rule : kInputRules) rule(situation, found);
  // The lock slows down passes as it does the input.
  const bool lock =
      std::ranges::find(found.causes, Bottleneck::kLock, &Cause::bottleneck) != found.causes.end();
  if (!lock) OneHiddenIsSlow(situation, Verdict::kWorthNaming, found);
  const Breakdown parts = StepParts(situation.trainers, situation.verdict);
  if (situation.verdict.upper_bound || parts.other <= Verdict::kWorthNaming) return;
  // The program's own work does not stand for a cause of the waits that is not found.
  const double saves = situation.pipeline.Saved(0, parts.other);
  if (!found.causes.empty() || saves > Verdict::kWorthNaming) {
    found.causes.push_back(HostCause(parts, saves));
  }
}

// The one cause of a training without much to gain outside of `moves`: what the devices do.
void FindDeviceCause(const Situation& situation, const Breakdown& parts, Found& found) {
  const Evidence& evidence = situation.evidence;
  const Verdict& verdict = situation.verdict;
  const auto taken = [&] {
    if (!evidence.system) return false;
    const Queueing queueing = FindOwnQueueing(*evidence.system, situation.trainers);
    return ProcessorsAreTaken(evidence, queueing, queueing.spared, found);
  };
  // Operations that are placed badly make copies, and devices wait for each other.
  const bool moves = !found.causes.empty();
  if (!moves && LockIsTaken(evidence, situation.trainers.front(), found)) return;
  if (!moves && DevicesTakeTurns(situation.trainers, found)) {
    taken();  // a device may be a CPU
    return;
  }
  const bool late = verdict.band == Band::kModerately || verdict.band == Band::kHighly;
  if (parts.device > kModelBusy) {
    if (taken() || ClockIsThrottled(evidence, parts.device, found)) return;
    if (!found.causes.empty() || late) return;
    found.causes.push_back(
        {.bottleneck = Bottleneck::kModel,
         .saves = 0,
         .evidence = {format("{} of step time is the device's own work", Percent(parts.device))}});
    return;
  }
  if (LaunchesAreSlow(situation.trainers, parts, found)) return;
  // The device's work, or the rest of the step, was not observed.
  if (verdict.upper_bound || verdict.band == Band::kUnknown) {
    if (!evidence.accelerators && (taken() || RanksRunOwnCode(situation, found))) return;
    ClockIsThrottled(evidence, 0, found);
    return;
  }
  const bool stands_alone = found.causes.empty() && verdict.band == Band::kNotInput;
  if (!stands_alone && parts.other < Verdict::kWorthNaming) return;
  // Where batches come late, what makes them, and how fast, is not known.
  std::optional<double> saves;
  if (verdict.band == Band::kNotInput) saves = situation.pipeline.Saved(0, parts.other);
  found.causes.push_back(HostCause(parts, saves));
}

void FindOtherCauses(const Situation& situation, Found& found) {
  OneIsSlow(situation.evidence, situation.trainers, found);
  OneHiddenIsSlow(situation, 0, found);
  if (!found.causes.empty()) return;
  const Breakdown parts = StepParts(situation.trainers, situation.verdict);
  MovingData(situation, found);
  FindDeviceCause(situation, parts, found);
}

void Adopt(const Situation& situation, Found found, Verdict& verdict) {
  verdict.notes.insert(verdict.notes.end(), found.notes.begin(), found.notes.end());
  RankCauses(found.causes);
  for (Cause& cause : found.causes) {
    if (cause.cure.empty()) cause.cure = CureInProgram(situation, cause);
  }
  verdict.causes = std::move(found.causes);
  verdict.action = ChooseAction(verdict.causes);
  if (verdict.causes.empty()) return;
  verdict.bottleneck = verdict.causes.front().bottleneck;
  verdict.evidence = verdict.causes.front().evidence;
  verdict.cure = verdict.causes.front().cure;
}

// A trace says that workers make the batches, not what they do.
void AdviseOnWorkers(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                     Verdict& verdict) {
  if (!verdict.causes.empty() || verdict.action) return;
  const InputSettings* const settings = SettingsOfLongest(evidence, trainers);
  if (settings == nullptr || settings->workers_known) return;
  verdict.evidence.push_back(
      "the training thread waits for the workers of a DataLoader; a trace does not show them");
  verdict.action = {.bottleneck = verdict.bottleneck,
                    .text =
                        "run the program under `recprobe run`, which names the line that the "
                        "workers' time goes to; if processors are idle, raise num_workers in "
                        "DataLoader(...)",
                    .saves = {}};
}

}  // namespace

void FindBottleneck(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                    Verdict& verdict) {
  // If a thread may prefetch, the lower end is 0: decide by the value, which is that thread's wait.
  const double surely =
      MayBeFetchedAhead(trainers) ? verdict.input_share.value : verdict.input_share.low;
  const bool input = verdict.band == Band::kModerately || verdict.band == Band::kHighly ||
                     (verdict.band == Band::kUndecided && surely > kSurelyInput);
  const auto work = input ? FindLoaderWork(evidence.loaders) : std::nullopt;
  const LoaderWork* const waited_for = work ? &*work : nullptr;
  const TrainerSteps* const slowest = input ? FindSlowestInput(evidence, trainers) : nullptr;
  std::optional<Evidence> own;
  if (slowest != nullptr) own = WithInputOf(*slowest, evidence);
  const Evidence& judged = own ? *own : evidence;
  const Situation situation{.evidence = judged,
                            .trainers = trainers,
                            .verdict = verdict,
                            .work = waited_for,
                            .pipeline = MakePipeline(judged, trainers, verdict, waited_for)};
  Found found;
  if (Hangs(evidence, trainers, found)) {
    Adopt(situation, std::move(found), verdict);
    if (const auto stuck = FindStuck(evidence, trainers)) {
      verdict.rank = RankNumber(evidence, trainers, *stuck);
    }
    return;
  }
  if (!input) {
    FindOtherCauses(situation, found);
    Adopt(situation, std::move(found), verdict);
    if (verdict.bottleneck == Bottleneck::kSlowRank) NameRank(evidence, trainers, verdict);
    if (verdict.band == Band::kUnknown && verdict.bottleneck == Bottleneck::kUnknown) {
      DescribeNativeThreads(evidence, trainers, verdict);
    }
    return;
  }
  FindInputCauses(situation, found);
  // Where the cause of short waits is not found, there may be one that matters more.
  if (found.causes.empty() && verdict.band != Band::kHighly) FindOtherCauses(situation, found);
  Adopt(situation, std::move(found), verdict);
  if (slowest != nullptr && verdict.bottleneck != Bottleneck::kSlowRank) {
    verdict.input_of = slowest->process;
    verdict.notes.push_back(
        format("lines and input threads are those of rank {} and its workers, which waits longest "
               "for its input",
               RankNumber(evidence, trainers, static_cast<size_t>(slowest - trainers.data()))));
  }
  if (verdict.bottleneck == Bottleneck::kUnknown) {
    DescribeNativeThreads(evidence, trainers, verdict);
  }
  AdviseOnWorkers(evidence, trainers, verdict);
  NameRank(evidence, trainers, verdict);
  NameHiddenRank(evidence, trainers, verdict);
}

}  // namespace recpack::probe

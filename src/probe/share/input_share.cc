#include "src/probe/share/input_share.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "src/base/format.h"
#include "src/probe/share/combine_steps.h"
#include "src/probe/share/hidden_ranks.h"
#include "src/probe/share/slow_rank.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

// Difference between waits and what a perfect input saves, as a share of step time; holds in 95 of
// 100 planted trainings (bench/probe/planted.py).
constexpr double kWaitsAreNotCost = 0.01;
constexpr double kWorthAWord = 0.05;   // of step time
constexpr double kAgrees = 0.9;        // of waits: the driver's figure is coarse
constexpr size_t kFewestOfAHalf = 20;  // steps

// Widens the interval: a perfect input does not save exactly the waits. Threads that make batches
// also slow down steps, and without the waits of one rank the jitter of others shows.
Estimate AsCost(const Estimate& waits) {
  const double below = std::hypot(waits.value - waits.low, kWaitsAreNotCost);
  const double above = std::hypot(waits.high - waits.value, kWaitsAreNotCost);
  const double value = std::min(1.0, waits.value);  // ranks' waits may be more than a step's mean
  return {value, std::max(0.0, value - below), std::min(1.0, value + above)};
}

// The cost of input in each step. Hidden ranks run in lockstep as well.
std::vector<Part> WaitsThatCount(const Evidence& evidence,
                                 const std::vector<TrainerSteps>& trainers, Verdict& verdict) {
  const bool hidden = AreHiddenRanks(evidence, trainers);
  if (!hidden && !RunInLockstep(trainers)) return SumsOfWaits(trainers);
  verdict.upper_bound |= hidden;
  std::vector<Part> together = hidden ? LongestWaitsOfSteps(trainers) : WaitsOfSteps(trainers);
  if (together.size() < std::min(verdict.steps, Verdict::kFewestSteps)) {
    verdict.notes.push_back(format(
        "{} {} train together but have fewer than {} step numbers in common: the waits are the "
        "mean over them; if they wait for the slowest one, input costs more",
        trainers.size(), hidden ? "processes" : "devices", Verdict::kFewestSteps));
    return SumsOfWaits(trainers);
  }
  if (!hidden) return together;
  const auto without = std::ranges::count(trainers, false, &TrainerSteps::waits_seen);
  if (without > 0) {
    verdict.notes.push_back(
        format("{} of {} processes that train together called for no batch: they get batches from "
               "another process, or in a way that is not seen",
               without, trainers.size()));
  }
  verdict.notes.push_back(format(
      "{} processes train together, and their waits for each other are not seen: a step's wait is "
      "taken to be that of the process that waits longest. This is an upper bound: if another one "
      "computes for longer, input costs less",
      trainers.size()));
  return together;
}

// Notes that waits for ranks that are not watched, or not known, are missing in the input waits.
void NoteOtherRanks(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                    Verdict& verdict) {
  const bool exchanges = std::ranges::any_of(trainers, [](const TrainerSteps& trainer) {
    return ShareOfTime(trainer, &StepRecord::exchange) > 0;
  });
  const std::vector<ProcessRank> ranks = FindRanks(trainers, evidence.ranks);
  if (exchanges || ranks.empty()) return;
  std::set<uint32_t> seen;
  for (const ProcessRank& rank : ranks) seen.insert(rank.rank);
  if (seen.size() < ranks.front().size) {
    verdict.notes.push_back(format(
        "{} of {} processes that train together {} watched: if another one waits for its input, "
        "these wait for it; watch each one with --report and join the reports with `recprobe "
        "merge`",
        seen.size(), ranks.front().size, seen.size() == 1 ? "is" : "are"));
  }
  if (trainers.size() > 1 && JobRanks(trainers, evidence.ranks).empty()) {
    verdict.notes.push_back(
        "the processes are not all ranks of one training: their waits are added up; if some of "
        "them "
        "wait for their slowest rank, input costs more");
  }
}

// Lowers the interval if the driver contradicts the waits. During a wait that nothing covers, the
// GPU is idle. If the driver saw less idle time than there were waits, queued work covers some of
// them, but no more than the driver's busy time, which is an upper bound: it counts any kernel.
void HoldAgainstGpus(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                     Verdict& verdict) {
  if (evidence.gpus.empty() || verdict.input_share.high < kWorthAWord) return;
  const auto idle = [](const GpuUse& gpu) {
    return gpu.idle_in_steps.value_or(std::numeric_limits<double>::infinity());
  };
  const GpuUse& idlest = *std::ranges::max_element(evidence.gpus, {}, idle);
  // Use one training thread: ranks that wait in turns wait for longer in sum.
  double waited = 0;
  for (const StepRecord& step : trainers[WaitsLongest(trainers)].steps) {
    waited += Seconds(step.uncovered_wait);
  }
  if (idle(idlest) >= kAgrees * waited) return;
  verdict.input_share.low *= std::max(0.0, 1 - idlest.busy_in_steps.value_or(waited) / waited);
  verdict.notes.push_back(format(
      "against it: the training thread waited {:.1f} s for input, but GPU {} was idle for only "
      "{:.1f} s: queued work covers some of the waits; `recprobe run --trace` shows how much",
      waited, idlest.device, idle(idlest)));
}

// Notes that the waits changed, for instance because a cache filled up or the program was being
// compiled: the second half then predicts the future.
void NoteChange(const std::vector<Part>& waits, Verdict& verdict) {
  if (waits.size() < 2 * kFewestOfAHalf) return;
  const auto middle = waits.begin() + static_cast<ptrdiff_t>(waits.size() / 2);
  const Estimate first = AsCost(EstimateShare({waits.begin(), middle}));
  const Estimate second = AsCost(EstimateShare({middle, waits.end()}));
  const bool apart = first.high < second.low || second.high < first.low;
  if (!apart || std::abs(second.value - first.value) < kWorthAWord) return;
  verdict.notes.push_back(
      format("the waits changed: {} of step time in the first half of the steps, {} in the second",
             Percent(first.value), Percent(second.value)));
}

}  // namespace

bool DevicesAreUnseen(const Evidence& evidence, const std::vector<TrainerSteps>& trainers) {
  return evidence.accelerators && !std::ranges::all_of(trainers, &TrainerSteps::device_seen);
}

bool WaitsAreSeen(const Evidence& evidence, const std::vector<TrainerSteps>& trainers) {
  return AreHiddenRanks(evidence, trainers)
             ? std::ranges::any_of(trainers, &TrainerSteps::waits_seen)
             : std::ranges::all_of(trainers, &TrainerSteps::waits_seen);
}

bool MayBeFetchedAhead(const std::vector<TrainerSteps>& trainers) {
  return std::ranges::any_of(trainers, [](const TrainerSteps& trainer) {
    return trainer.source == TrainerSteps::Source::kLoader && trainer.fetched_ahead;
  });
}

void EstimateInputShare(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                        Verdict& verdict) {
  const std::vector<Part> waits = WaitsThatCount(evidence, trainers, verdict);
  verdict.input_share = AsCost(EstimateShare(waits));
  if (MayBeFetchedAhead(trainers)) {
    verdict.upper_bound = true;
    verdict.input_share.low = 0;
  }
  if (DevicesAreUnseen(evidence, trainers)) HoldAgainstGpus(evidence, trainers, verdict);
  NoteOtherRanks(evidence, trainers, verdict);
  NoteChange(waits, verdict);
}

}  // namespace recpack::probe

#include "src/probe/causes/input_share.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "src/base/format.h"
#include "src/probe/causes/combine_steps.h"
#include "src/probe/causes/hidden_ranks.h"
#include "src/probe/causes/slow_rank.h"
#include "src/probe/util/percent.h"

namespace recpack::probe {
namespace {

constexpr double kWaitsAreNotCost = 0.01;  // of step time, in 95 of 100 planted trainings
constexpr double kWorthAWord = 0.05;       // of step time
constexpr double kAgrees = 0.9;            // of waits: the driver's figure is coarse
constexpr size_t kFewestOfAHalf = 20;      // steps

// Waits are not quite what a perfect input would spare: threads that make batches also slow down
// steps, and without the waits of one rank others' jitter shows.
Estimate AsCost(const Estimate& waits) {
  const double below = std::hypot(waits.value - waits.low, kWaitsAreNotCost);
  const double above = std::hypot(waits.high - waits.value, kWaitsAreNotCost);
  const double value = std::min(1.0, waits.value);  // ranks' waits may be more than a step's mean
  return {value, std::max(0.0, value - below), std::min(1.0, value + above)};
}

// Of each step what counts. Ranks whose exchanges nobody told of go in step as well.
std::vector<Part> WaitsThatCount(const Evidence& evidence,
                                 const std::vector<TrainerSteps>& trainers, Verdict& verdict) {
  const bool hidden = AreHiddenRanks(evidence, trainers);
  if (!hidden && !GoInStep(trainers)) return SumsOfWaits(trainers);
  verdict.upper_bound |= hidden;
  std::vector<Part> together = hidden ? LongestWaitsOfSteps(trainers) : WaitsOfSteps(trainers);
  if (together.size() < std::min(verdict.steps, Verdict::kFewestSteps)) {
    verdict.notes.push_back(format(
        "{} {} train together, and count no {} steps alike: their waits are those of the mean "
        "one, and where they wait for the slowest it costs more",
        trainers.size(), hidden ? "processes" : "devices", Verdict::kFewestSteps));
    return SumsOfWaits(trainers);
  }
  if (!hidden) return together;
  const auto without = std::ranges::count(trainers, false, &TrainerSteps::waits_seen);
  if (without > 0) {
    verdict.notes.push_back(
        format("{} of {} processes that train together called for no batch: they get them from "
               "another one, or in a way that is not seen",
               without, trainers.size()));
  }
  verdict.notes.push_back(format(
      "{} processes train together, and what they wait for each other is not seen: a step "
      "is taken to wait for input as long as the one of them that waits longest, which is an "
      "upper bound: where another one computes for longer it costs less",
      trainers.size()));
  return together;
}

// What a process waits for ranks that are not watched, or cannot be told apart, is none of its
// input waits.
void NoteOtherRanks(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                    Verdict& verdict) {
  const bool exchanges = std::ranges::any_of(trainers, [](const TrainerSteps& trainer) {
    return ShareOfTime(trainer, &StepRecord::exchange) > 0;
  });
  const std::vector<ProcessRank> told = ToldOf(trainers, evidence.ranks);
  if (exchanges || told.empty()) return;
  std::set<uint32_t> seen;
  for (const ProcessRank& rank : told) seen.insert(rank.rank);
  if (seen.size() < told.front().size) {
    verdict.notes.push_back(format(
        "of {} processes that train together {} {} seen: where another one waits for its input, "
        "these wait for it; watch each (--report), and `recprobe merge` joins them",
        told.front().size, seen.size(), seen.size() == 1 ? "is" : "are"));
  }
  if (trainers.size() > 1 && RanksOf(trainers, evidence.ranks).empty()) {
    verdict.notes.push_back(
        "the processes are not all ranks of one training: their waits are added up, and where some "
        "wait for the slowest of their own it costs more");
  }
}

// A wait that nothing covers is time in which a GPU does nothing. Where the driver saw less of that
// than there were waits, work that was queued covers some of them: no more than there was of it,
// and the driver's figure is the most there can have been, as it counts any kernel, however small.
void HoldAgainstGpus(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                     Verdict& verdict) {
  if (evidence.gpus.empty() || verdict.input_share.high < kWorthAWord) return;
  const auto idle = [](const GpuUse& gpu) {
    return gpu.idle_in_steps.value_or(std::numeric_limits<double>::infinity());
  };
  const GpuUse& idlest = *std::ranges::max_element(evidence.gpus, {}, idle);
  // By one training thread: where ranks wait in turns, all together wait for longer.
  double waited = 0;
  for (const StepRecord& step : trainers[WaitsLongest(trainers)].steps) {
    waited += static_cast<double>(step.uncovered_wait) * 1e-9;
  }
  if (idle(idlest) >= kAgrees * waited) return;
  verdict.input_share.low *= std::max(0.0, 1 - idlest.busy_in_steps.value_or(waited) / waited);
  verdict.notes.push_back(format(
      "against it: the training thread waited {:.1f} s for input, and GPU {} did nothing for "
      "{:.1f} s: work that was queued covers some of the waits; `recprobe run --trace` tells "
      "how much",
      waited, idlest.device, idle(idlest)));
}

// A cache that fills up, a program that is compiled as it runs: what is to come is like the end.
void NoteChange(const std::vector<Part>& waits, Verdict& verdict) {
  if (waits.size() < 2 * kFewestOfAHalf) return;
  const auto middle = waits.begin() + static_cast<ptrdiff_t>(waits.size() / 2);
  const Estimate first = AsCost(ShareOf({waits.begin(), middle}));
  const Estimate second = AsCost(ShareOf({middle, waits.end()}));
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
  verdict.input_share = AsCost(ShareOf(waits));
  if (MayBeFetchedAhead(trainers)) {
    verdict.upper_bound = true;
    verdict.input_share.low = 0;
  }
  if (DevicesAreUnseen(evidence, trainers)) HoldAgainstGpus(evidence, trainers, verdict);
  NoteOtherRanks(evidence, trainers, verdict);
  NoteChange(waits, verdict);
}

}  // namespace recpack::probe

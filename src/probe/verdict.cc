#include "recpack/probe/verdict.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/base/format.h"
#include "src/probe/combine_steps.h"
#include "src/probe/find_bottleneck.h"

namespace recpack {
namespace {

constexpr double kModerate = 0.05, kHigh = 0.2;
constexpr size_t kFewestSteps = 10;

Band BandOf(const Estimate& share) {
  const auto band = [](double value) {
    if (value < kModerate) return Band::kNotInput;
    return value < kHigh ? Band::kModerately : Band::kHighly;
  };
  return band(share.low) == band(share.high) ? band(share.low) : Band::kUndecided;
}

// Of steps a second, where that share of their time is spared.
double Gain(double share) { return share < 1 ? share / (1 - share) : 0; }

double StepsPerSecond(const std::vector<TrainerSteps>& trainers) {
  double sum = 0;
  for (const TrainerSteps& trainer : trainers) {
    const int64_t span = trainer.steps.back().end - trainer.steps.front().begin;
    if (span > 0)
      sum += static_cast<double>(trainer.steps.size()) * 1e9 / static_cast<double>(span);
  }
  return sum;
}

void AddNotes(const std::vector<TrainerSteps>& trainers, Verdict& verdict) {
  const auto any = [&](auto holds) { return std::any_of(trainers.begin(), trainers.end(), holds); };
  if (verdict.upper_bound) {
    verdict.notes.push_back(
        "what the devices did is not known: where they had work queued, the waits cost less than "
        "this");
  }
  if (any([](const auto& trainer) {
        return trainer.source == TrainerSteps::Source::kBetweenWaits;
      })) {
    verdict.notes.push_back(
        "nobody told of steps: one is from batch to batch, evaluation included");
  }
  if (verdict.input_share.value < kModerate && any([](const auto& trainer) {
        return trainer.fetched_ahead && trainer.source == TrainerSteps::Source::kBetweenWaits;
      })) {
    verdict.notes.push_back("batches are fetched in the background, by a way that is not seen");
  }
}

}  // namespace

const char* BandName(Band band) noexcept {
  constexpr const char* kNames[] = {"unknown", "undecided", "not input-bound",
                                    "moderately input-bound", "highly input-bound"};
  static_assert(std::size(kNames) == kBands);
  return kNames[static_cast<size_t>(band)];
}

const char* BottleneckName(Bottleneck bottleneck) noexcept {
  constexpr const char* kNames[] = {"unknown",
                                    "storage",
                                    "read",
                                    "parse",
                                    "decode",
                                    "augment",
                                    "user function",
                                    "batch function",
                                    "write",
                                    "prefetch",
                                    "training thread",
                                    "processors taken by others",
                                    "processor quota",
                                    "copies to the device",
                                    "exchange between devices",
                                    "slow rank",
                                    "host",
                                    "model"};
  static_assert(std::size(kNames) == kBottlenecks);
  return kNames[static_cast<size_t>(bottleneck)];
}

Verdict Decide(const Evidence& evidence) {
  Verdict verdict;
  verdict.notes = evidence.unseen;
  std::vector<TrainerSteps> trainers = evidence.trainers;
  verdict.left_out = LeaveOutWarmUp(trainers);
  std::erase_if(trainers, [](const TrainerSteps& trainer) { return trainer.steps.empty(); });
  if (trainers.empty()) return verdict;
  verdict.steps = trainers.front().steps.size();
  for (const auto& trainer : trainers)
    verdict.steps = std::min(verdict.steps, trainer.steps.size());
  verdict.upper_bound = evidence.accelerators &&
                        !std::all_of(trainers.begin(), trainers.end(),
                                     [](const auto& trainer) { return trainer.device_seen; });
  verdict.input_share = ShareOf(WaitsOfSteps(trainers));
  verdict.gain = {Gain(verdict.input_share.value), Gain(verdict.input_share.low),
                  Gain(verdict.input_share.high)};
  verdict.steps_per_second = StepsPerSecond(trainers);
  verdict.breakdown = BreakdownOf(trainers);
  if (!evidence.accelerators && verdict.breakdown.device == 0) {
    std::swap(verdict.breakdown.device, verdict.breakdown.other);
  }
  verdict.band = verdict.steps < kFewestSteps ? Band::kUndecided : BandOf(verdict.input_share);
  if (verdict.steps < kFewestSteps) {
    verdict.notes.push_back(
        format("{} steps are too few to decide by; {} are needed", verdict.steps, kFewestSteps));
  }
  FindBottleneck(evidence, trainers, verdict);
  AddNotes(trainers, verdict);
  return verdict;
}

}  // namespace recpack

#include "src/probe/causes/decide.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "src/base/format.h"
#include "src/probe/causes/combine_steps.h"
#include "src/probe/causes/find_bottleneck.h"
#include "src/probe/causes/hidden_ranks.h"
#include "src/probe/causes/hints.h"
#include "src/probe/causes/input_share.h"
#include "src/probe/evidence/loader_steps.h"

namespace recpack::probe {
namespace {

constexpr double kModerate = 0.05, kHigh = 0.2;

Band BandOf(double share) {
  if (share < kModerate) return Band::kNotInput;
  return share < kHigh ? Band::kModerately : Band::kHighly;
}

Band BandOf(const Estimate& share) {
  return BandOf(share.low) == BandOf(share.high) ? BandOf(share.low) : Band::kUndecided;
}

// Of steps a second, where that share of their time is spared.
// Where steps are nothing but waits there is no limit to it.
double Gain(double share) {
  return share < 1 ? share / (1 - share) : std::numeric_limits<double>::infinity();
}

double StepsPerSecond(const std::vector<TrainerSteps>& trainers) {
  double sum = 0;
  for (const TrainerSteps& trainer : trainers) {
    const int64_t span = trainer.steps.back().end - trainer.steps.front().begin;
    if (span > 0)
      sum += static_cast<double>(trainer.steps.size()) * 1e9 / static_cast<double>(span);
  }
  return sum;
}

// What a loader's own account leaves open.
void AddLoaderNotes(const TrainerSteps& trainer, Verdict& verdict) {
  verdict.notes.push_back(
      "steps and waits are those of the loader's own account: a step is a batch, evaluation "
      "included; waits for what is not the loader's are not seen");
  if (trainer.fetched_ahead) {
    verdict.notes.push_back(
        "who takes the batches may fetch them ahead for the training: that waits for at most as "
        "much, and for nothing while it has batches left");
  }
}

void NoteDoubt(Verdict& verdict) {
  const Band low = BandOf(verdict.input_share.low), high = BandOf(verdict.input_share.high);
  if (!verdict.enough_steps()) {
    verdict.notes.push_back(format("{} steps are too few to decide by; {} are needed",
                                   verdict.steps, Verdict::kFewestSteps));
  } else if (verdict.band == Band::kUndecided && low != high) {
    verdict.notes.push_back(
        format("undecided: the interval reaches from {} to {}", BandName(low), BandName(high)));
  }
}

void AddNotes(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
              Verdict& verdict) {
  const auto any = [&](auto holds) { return std::any_of(trainers.begin(), trainers.end(), holds); };
  const auto by = [&](TrainerSteps::Source source) {
    return any([source](const auto& trainer) { return trainer.source == source; });
  };
  if (DevicesAreUnseen(evidence, trainers) && verdict.band != Band::kUnknown) {
    verdict.notes.push_back(
        "what the devices did is not known: where they had work queued, the waits cost less than "
        "this");
  }
  if (by(TrainerSteps::Source::kMarked)) {
    verdict.notes.push_back("nobody told of steps: they are from one range of a name to the next");
  }
  if (by(TrainerSteps::Source::kBetweenWaits)) {
    verdict.notes.push_back(
        "nobody told of steps: one is from batch to batch, evaluation included");
  }
  if (by(TrainerSteps::Source::kLoader)) AddLoaderNotes(trainers.front(), verdict);
  if (verdict.input_share.value < kModerate && any([](const auto& trainer) {
        return trainer.fetched_ahead && trainer.source == TrainerSteps::Source::kBetweenWaits;
      })) {
    verdict.notes.push_back("batches are fetched in the background, by a way that is not seen");
  }
}

// Nobody told of steps, nor of batches: what is left is how often the devices' work repeats.
void DecideWithoutSteps(const Evidence& evidence, Verdict& verdict) {
  if (evidence.periods.empty()) return;
  verdict.period = evidence.periods.front();
  verdict.steps_per_second = 1 / verdict.period->seconds;
}

void DecideBySteps(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                   Verdict& verdict) {
  verdict.steps = trainers.front().steps.size();
  for (const auto& trainer : trainers)
    verdict.steps = std::min(verdict.steps, trainer.steps.size());
  verdict.upper_bound = DevicesAreUnseen(evidence, trainers);
  verdict.steps_per_second = StepsPerSecond(trainers);
  verdict.breakdown = BreakdownOf(trainers);
  if (StepsAreOwnWork(evidence, trainers) && verdict.breakdown.device == 0) {
    std::swap(verdict.breakdown.device, verdict.breakdown.other);
  }
  if (WaitsAreSeen(evidence, trainers)) {
    EstimateInputShare(evidence, trainers, verdict);
    verdict.gain = {Gain(verdict.input_share.value), Gain(verdict.input_share.low),
                    Gain(verdict.input_share.high)};
    verdict.band = verdict.enough_steps() ? BandOf(verdict.input_share) : Band::kUndecided;
  } else {
    verdict.notes.push_back("input wait: unavailable: steps were seen, but no call for a batch");
  }
  NoteDoubt(verdict);
  FindBottleneck(evidence, trainers, verdict);
  AddNotes(evidence, trainers, verdict);
}

}  // namespace

Verdict Decide(const Evidence& evidence) {
  Verdict verdict;
  verdict.notes = evidence.notes;
  std::vector<TrainerSteps> trainers = evidence.trainers;
  if (trainers.empty()) {
    verdict.notes.push_back("input wait: unavailable: " + (evidence.no_steps.empty()
                                                               ? "nobody told of steps"
                                                               : evidence.no_steps));
    trainers = StepsOfLoaders(evidence.loaders);
  }
  verdict.left_out = LeaveOutWarmUp(trainers);
  std::erase_if(trainers, [](const TrainerSteps& trainer) { return trainer.steps.empty(); });
  if (trainers.empty()) {
    DecideWithoutSteps(evidence, verdict);
  } else {
    DecideBySteps(evidence, trainers, verdict);
  }
  // What stands against the verdict comes before what is missing.
  verdict.notes.insert(verdict.notes.end(), evidence.unseen.begin(), evidence.unseen.end());
  verdict.hints = HintsOf(evidence, verdict);
  return verdict;
}

}  // namespace recpack::probe

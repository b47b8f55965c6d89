#include "src/probe/causes/decide.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "src/base/format.h"
#include "src/probe/causes/find_lines.h"
#include "src/probe/causes/name_lines.h"
#include "src/probe/causes/rules.h"
#include "src/probe/causes/shared_loader.h"
#include "src/probe/evidence/loader_work.h"
#include "src/probe/share/combine_steps.h"
#include "src/probe/share/hidden_ranks.h"
#include "src/probe/share/input_share.h"

namespace recpack::probe {
namespace {

constexpr double kModerate = 0.05, kHigh = 0.2;

Band FindBand(double share) {
  if (share < kModerate) return Band::kNotInput;
  return share < kHigh ? Band::kModerately : Band::kHighly;
}

Band FindBand(const Estimate& share) {
  return FindBand(share.low) == FindBand(share.high) ? FindBand(share.low) : Band::kUndecided;
}

// Relative increase of steps per second if this share of their time is saved. Infinite if steps
// consist of waits only.
double Gain(double share) {
  return share < 1 ? share / (1 - share) : std::numeric_limits<double>::infinity();
}

// `time`: a member of StepRecord, or one of its functions.
template <typename Time>
double Sum(const TrainerSteps& trainer, Time StepRecord::*time) {
  double sum = 0;
  for (const StepRecord& step : trainer.steps) {
    sum += static_cast<double>(std::invoke(time, step));
  }
  return sum;
}

double InSteps(const TrainerSteps& trainer) { return Sum(trainer, &StepRecord::duration); }

double StepsPerSecond(const std::vector<TrainerSteps>& trainers) {
  double sum = 0;
  for (const TrainerSteps& trainer : trainers) {
    const double time = InSteps(trainer);
    if (time > 0) sum += static_cast<double>(trainer.steps.size()) * 1e9 / time;
  }
  return sum;
}

std::optional<Beside> FindBeside(const std::vector<TrainerSteps>& trainers) {
  double steps = 0, beside = 0, waits = 0;
  for (const TrainerSteps& trainer : trainers) {
    steps += InSteps(trainer);
    // What is before the first step that counts is no part of the time.
    const StepRecord& first = trainer.steps.front();
    beside += Sum(trainer, &StepRecord::beside) - static_cast<double>(first.beside);
    waits +=
        Sum(trainer, &StepRecord::evaluation_wait) - static_cast<double>(first.evaluation_wait);
  }
  const double all = steps + beside;
  if (beside <= Verdict::kWorthTelling * all) return {};
  return Beside{.share = beside / all, .waits = waits / all};
}

// Says that only some steps of a long training are kept (KeptSteps).
void NoteDropped(const std::vector<TrainerSteps>& trainers, Verdict& verdict) {
  const auto most = std::ranges::max_element(trainers, {}, &TrainerSteps::dropped);
  if (most == trainers.end() || most->dropped == 0) return;
  verdict.notes.push_back(
      format("{} of {} steps were counted, in stretches that are spread over the whole training",
             CountText(most->steps.size()), CountText(most->steps.size() + most->dropped)));
}

// Notes on the limits of steps that come from the loader's own statistics.
void AddLoaderNotes(const TrainerSteps& trainer, Verdict& verdict) {
  verdict.notes.push_back(
      "steps and waits come from the loader's own statistics: a step is a batch, evaluation "
      "included; waits for anything but the loader are not seen");
  if (trainer.fetched_ahead) {
    verdict.notes.push_back(
        "batches may be taken by a thread that may fetch them ahead: the training then waits at "
        "most as long as that thread, and not at all while it has batches left");
  }
}

void NoteDoubt(Verdict& verdict) {
  const Band low = FindBand(verdict.input_share.low), high = FindBand(verdict.input_share.high);
  if (!verdict.enough_steps()) {
    verdict.notes.push_back(format("{} steps are too few to decide; {} are needed", verdict.steps,
                                   Verdict::kFewestSteps));
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
        "what the devices did is not known: if they had work queued, the waits cost less than "
        "this");
  }
  if (by(TrainerSteps::Source::kMarked)) {
    verdict.notes.push_back(
        "no steps were reported: a step is the time from one range of a name to the next");
  }
  if (by(TrainerSteps::Source::kBetweenWaits)) {
    verdict.notes.push_back(
        "no steps were reported: a step is the time from batch to batch, evaluation included");
  }
  if (by(TrainerSteps::Source::kLoader)) AddLoaderNotes(trainers.front(), verdict);
  if (verdict.input_share.value < kModerate && any([](const auto& trainer) {
        return trainer.fetched_ahead && trainer.source == TrainerSteps::Source::kBetweenWaits;
      })) {
    verdict.notes.push_back("batches are fetched in the background, in a way that is not seen");
  }
}

// Other programs may delay the training in its step as they do in its waits: a perfect input then
// spares less than these.
void WidenByOthers(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                   Estimate& share) {
  const double queued = QueuedForOthers(evidence, trainers, share.value);
  share.low = std::max(0.0, share.value - std::hypot(share.value - share.low, queued));
}

// Without steps and batches, only the period of the devices' work is known.
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
  verdict.beside = FindBeside(trainers);
  verdict.breakdown = MeanBreakdown(trainers);
  const bool waits_are_seen = WaitsAreSeen(evidence, trainers);
  // Otherwise waits for input may be among it.
  if (waits_are_seen && StepsAreOwnWork(evidence, trainers) && verdict.breakdown.device == 0) {
    // The training thread computes the step, and what the program does beside the model.
    const double other = std::min(verdict.breakdown.other, OwnCodeShare(evidence.lines));
    verdict.breakdown.device = verdict.breakdown.other - other;
    verdict.breakdown.other = other;
  }
  if (waits_are_seen) {
    EstimateInputShare(evidence, trainers, verdict);
    WidenByOthers(evidence, trainers, verdict.input_share);
    verdict.gain = {Gain(verdict.input_share.value), Gain(verdict.input_share.low),
                    Gain(verdict.input_share.high)};
    verdict.band = verdict.enough_steps() ? FindBand(verdict.input_share) : Band::kUndecided;
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
                                                               ? "no steps were reported"
                                                               : evidence.no_steps));
    trainers = MakeLoaderSteps(evidence.loaders);
  }
  verdict.left_out = DropWarmUp(trainers);
  NoteDropped(trainers, verdict);
  std::erase_if(trainers, [](const TrainerSteps& trainer) { return trainer.steps.empty(); });
  if (std::string note = CountWaitsForSlowDevice(evidence, trainers); !note.empty()) {
    verdict.notes.push_back(std::move(note));
  }
  if (trainers.empty()) {
    DecideWithoutSteps(evidence, verdict);
  } else {
    DecideBySteps(evidence, trainers, verdict);
  }
  NameLines(evidence, verdict);
  // Caveats come before what is missing.
  verdict.notes.insert(verdict.notes.end(), evidence.unseen.begin(), evidence.unseen.end());
  verdict.hints = MakeHints(evidence, verdict);
  return verdict;
}

}  // namespace recpack::probe

#include <algorithm>
#include <iterator>

#include "recpack/base/median.h"
#include "src/base/format.h"
#include "src/probe/causes/rules.h"
#include "src/probe/util/units.h"
#include "src/probe/verdict/line_text.h"

namespace recpack::probe {
namespace {

constexpr double kLongSilence = 20;     // steps
constexpr double kShortestSilence = 5;  // seconds
constexpr double kShortestStandstill = 30;
constexpr double kMostly = 0.5;       // of the time
constexpr double kAllBlocked = 0.98;  // of the time

double MedianStep(const std::vector<TrainerSteps>& trainers) {
  std::vector<double> durations;
  for (const TrainerSteps& trainer : trainers) {
    durations.reserve(durations.size() + trainer.steps.size());
    for (const StepRecord& step : trainer.steps) durations.push_back(Seconds(step.duration()));
  }
  return Median(std::move(durations));
}

// All training threads wait, as nothing else does for so long: evaluations and checkpoints compute
// or write. Adds a sign for each.
void AddStandstill(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                   double lasted, std::vector<std::string>& signs) {
  if (lasted < kShortestStandstill) return;
  const double sampled = std::min<double>(lasted, LineSamples::kRemembered);
  std::vector<std::string> told;
  for (const TrainerSteps& trainer : trainers) {
    const auto still =
        std::ranges::find(evidence.standstills, trainer.process, &Standstill::process);
    if (still == evidence.standstills.end()) return;
    if (still->seconds < kMostly * sampled || still->blocked < kAllBlocked) return;
    const CodeLine& line = still->line;
    told.push_back(format("the training thread of process {} waits at {} in `{}`{}{}",
                          trainer.process, PlaceText(line, evidence.lines), line.function,
                          line.calling.empty() ? "" : ", calling " + line.calling,
                          line.waits.empty() ? "" : " (" + line.waits + ")"));
  }
  std::ranges::move(told, std::back_inserter(signs));
}

}  // namespace

bool Hangs(const Evidence& evidence, const std::vector<TrainerSteps>& trainers, Found& found) {
  if (!evidence.silence) return false;
  const Silence& silence = *evidence.silence;
  const double lasted = Seconds(silence.until - silence.since);
  const double step = MedianStep(trainers);
  if (lasted < std::max(kShortestSilence, kLongSilence * step)) return false;
  std::vector<std::string> signs;
  if (silence.in_input) {
    signs.push_back("the last event is a wait for input, which has not ended");
  }
  for (const GpuUse& gpu : evidence.gpus) {
    // Spinning must last for most of the silence.
    if (!gpu.spins_since || Seconds(silence.until - *gpu.spins_since) < kMostly * lasted) continue;
    signs.push_back(
        format("GPU {} reports that kernels run all the time but hardly access memory: they wait "
               "for something",
               gpu.device));
  }
  if (signs.empty()) AddStandstill(evidence, trainers, lasted, signs);
  const std::string quiet =
      format("the program ran but reported nothing in the last {:.0f} s; a step takes {:.3f} s",
             lasted, step);
  if (signs.empty()) {
    found.notes.push_back(quiet + ": this is an evaluation or a checkpoint, or it hangs");
    return false;
  }
  signs.insert(signs.begin(), quiet);
  found.causes.push_back({.bottleneck = Bottleneck::kHang, .evidence = std::move(signs)});
  return true;
}

std::optional<size_t> FindStuck(const Evidence& evidence,
                                const std::vector<TrainerSteps>& trainers) {
  std::optional<size_t> stuck;
  for (size_t i = 0; i < trainers.size(); ++i) {
    const auto still =
        std::ranges::find(evidence.standstills, trainers[i].process, &Standstill::process);
    if (still == evidence.standstills.end()) return {};
    const bool waits_for_others =
        still->line.phase == "model" || still->line.calling.starts_with("torch.distributed");
    if (waits_for_others) continue;
    if (stuck) return {};
    stuck = i;
  }
  return trainers.size() > 1 ? stuck : std::nullopt;
}

}  // namespace recpack::probe

#include "src/probe/live/metrics.h"

#include <algorithm>

#include "src/probe/evidence/evidence.h"
#include "src/probe/live/exposition.h"
#include "src/probe/live/metric_families.h"
#include "src/probe/steps/steps.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

// Device work of a step may be reported up to this long after its end [ns].
constexpr int64_t kSettled = 2'000'000'000;

}  // namespace

size_t Metrics::FindIndex(const TrainerSteps& trainer) const {
  const auto found = std::find_if(counted_.begin(), counted_.end(), [&](const Counted& known) {
    return SameTrainer(known, trainer);
  });
  return static_cast<size_t>(found - counted_.begin());
}

bool Metrics::Misses(const Evidence& evidence, size_t most_steps) const {
  const auto& trainers = evidence.trainers;
  return std::any_of(trainers.begin(), trainers.end(), [&](const TrainerSteps& trainer) {
    if (trainer.steps.empty() || trainer.steps.size() < most_steps) return false;
    const size_t place = FindIndex(trainer);
    return place == counted_.size() || counted_[place].end < trainer.steps.front().begin;
  });
}

void Metrics::Count(const Evidence& evidence, const Verdict& verdict, int64_t now) {
  double added = 0;
  for (const TrainerSteps& trainer : evidence.trainers) {
    const size_t place = FindIndex(trainer);
    if (place == counted_.size()) {
      counted_.push_back({trainer.process, trainer.lane, trainer.device});
    }
    Counted& known = counted_[place];
    for (const StepRecord& step : trainer.steps) {
      if (step.end <= known.end || step.end > now - kSettled) continue;
      known.end = step.end;
      ++sums_.steps;
      added += Seconds(step.duration());
      sums_.wait_seconds += Seconds(step.uncovered_wait);
    }
  }
  sums_.step_seconds += added;
  sums_.lost_seconds += added * verdict.input_share.value;
  sums_.lost_low += added * verdict.input_share.low;
  sums_.lost_high += added * verdict.input_share.high;
}

std::string Metrics::Text(const Evidence& evidence, const Verdict& verdict,
                          const std::vector<GpuSample>& gpus, int64_t now) {
  Count(evidence, verdict, now);
  Exposition text({{"job", labels_.job},
                   {"rank", labels_.rank},
                   {"user", labels_.user},
                   {"host", labels_.host}});
  AddVerdict(verdict, text);
  if (!evidence.trainers.empty()) {
    text.Single("recprobe_steps_total", "Steps of all training threads.",
                static_cast<double>(sums_.steps));
    text.Single("recprobe_device_seconds_total", "Step time, summed over training threads.",
                sums_.step_seconds);
    text.Single("recprobe_input_wait_seconds_total",
                "Waits for input that no device work covers, summed over training threads.",
                sums_.wait_seconds);
    text.Single("recprobe_lost_device_seconds_total",
                "Step time lost to waits for input, on all devices together.", sums_.lost_seconds);
    text.Single("recprobe_lost_device_seconds_low_total", "Lower end of its 95 % interval.",
                sums_.lost_low);
    text.Single("recprobe_lost_device_seconds_high_total", "Upper end of its 95 % interval.",
                sums_.lost_high);
  }
  AddLoaders(evidence.loaders, now, text);
  AddSystem(evidence.system, text);
  AddGpus(gpus, text);
  return text.text();
}

}  // namespace recpack::probe

#include "src/train/world/repetition.h"

#include <algorithm>

#include "src/base/format.h"
#include "src/train/setup/make_ops.h"

namespace recpack::train {
namespace {

// The device has memory for twice that many batches.
constexpr int64_t kMostAtOnce = 32;

std::string GraphsOfStep(const TrainerOptions& options, size_t towers) {
  if (options.strategy == StrategyKind::kDistributedReplicated) {
    return "; a step is a CUDA graph up to the sums of gradients";
  }
  const size_t steps = StepsAtOnce(options, towers);
  if (steps > 1) return format("; {} steps are a CUDA graph", steps);
  if (towers == 1) return "; a step is a CUDA graph";
  return "; a step is two CUDA graphs, before the sums of gradients and after them";
}

}  // namespace

std::string WhyNotRepeated(const TrainerOptions& options, size_t towers) {
  if (!options.cuda_graphs) return "they were not asked for";
  if (IsPlaced(options)) return "the model is over several devices";
  if (options.sums == SumPlace::kGpus && towers == 1) {
    return "sums of gradients lie between its parts";
  }
  if (options.strategy == StrategyKind::kParameterServer) {
    return "the host moves variables in each step";
  }
  if (options.norm_sync && towers > 1) return "the host adds up statistics of batches";
  return {};
}

size_t StepsAtOnce(const TrainerOptions& options, size_t towers) {
  const bool alone = towers == 1 && options.devices[0].kind == DeviceKind::kCuda &&
                     options.strategy == StrategyKind::kReplicated;
  if (!alone || !WhyNotRepeated(options, towers).empty()) return 1;
  for (int64_t steps = std::min(options.steps_per_dispatch, kMostAtOnce); steps > 1; --steps) {
    if (options.steps_per_dispatch % steps == 0) return static_cast<size_t>(steps);
  }
  return 1;
}

std::string DescribeSteps(const TrainerOptions& options, size_t towers) {
  std::string text;
  const bool cuda =
      std::any_of(options.devices.begin(), options.devices.end(),
                  [](const DeviceSpec& device) { return device.kind == DeviceKind::kCuda; });
  if (cuda) {
    const std::string why_not = WhyNotRepeated(options, towers);
    text = why_not.empty() ? GraphsOfStep(options, towers) : "; no CUDA graphs: " + why_not;
  }
  if (options.steps_per_dispatch > 1) {
    text += format("{} {} steps a dispatch", text.empty() ? ';' : ',', options.steps_per_dispatch);
  }
  return text;
}

}  // namespace recpack::train

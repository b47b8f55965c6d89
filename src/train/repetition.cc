#include "src/train/repetition.h"

#include <algorithm>

#include "src/base/format.h"
#include "src/train/make_ops.h"

namespace recpack {

std::string WhyNotRepeated(const TrainerOptions& options, size_t towers) {
  if (!options.cuda_graphs) return "they were not asked for";
  if (IsPlaced(options)) return "the model is over several devices";
  if (towers > 1) return "the host adds up what several devices compute";
  if (options.strategy != StrategyKind::kReplicated) {
    return "the host moves variables in each step";
  }
  return {};
}

std::string DescribeSteps(const TrainerOptions& options, size_t towers) {
  std::string text;
  const bool cuda =
      std::any_of(options.devices.begin(), options.devices.end(),
                  [](const DeviceSpec& device) { return device.kind == DeviceKind::kCuda; });
  if (cuda) {
    const std::string why_not = WhyNotRepeated(options, towers);
    text = why_not.empty() ? "; a step is a CUDA graph" : "; no CUDA graphs: " + why_not;
  }
  if (options.steps_per_dispatch > 1) {
    text += format("{} {} steps a dispatch", text.empty() ? ';' : ',', options.steps_per_dispatch);
  }
  return text;
}

}  // namespace recpack

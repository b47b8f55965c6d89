#include "src/train/world/auto_strategy.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/train/cpu/cpu_ops.h"
#include "src/train/cuda/gpu_links.h"
#include "src/train/setup/make_model.h"
#include "src/train/setup/make_ops.h"
#include "src/train/world/choose_strategy.h"
#include "src/train/world/gradient_sums.h"

namespace recpack::train {
namespace {

// The model is declared, not built: it takes no memory.
ModelSize FindModelSize(const TrainerOptions& options) {
  const auto ops = MakeCpuOps({.threads = 1});
  const auto model = MakeModel(options, {.ops = ops.get(), .batch = 1, .layout = options.layout});
  ModelSize size;
  for (const VariableSpec& variable : model->variables().specs()) {
    if (!variable.trained) continue;
    const auto elements = static_cast<uint64_t>(Elements(variable.shape));
    size.all += elements;
    if (variable.shape.size() <= 2) size.dense += elements;
  }
  return size;
}

TrainingTopology FindTopology(const TrainerOptions& options, const ProcessWorld& world) {
  TrainingTopology topology{.processes = world.processes(), .devices = world.towers()};
  if (topology.devices == 1) return topology;
  topology.gpu_sums = WhyNoGpuSums(options, world).empty();
  if (topology.processes > 1) return topology;
  std::vector<int> gpus;
  for (const DeviceSpec& device : options.devices) {
    if (device.kind == DeviceKind::kCuda) gpus.push_back(device.number);
  }
  topology.gpus = gpus.size();
  for (auto one = gpus.begin(); one != gpus.end(); ++one) {
    for (auto other = gpus.begin(); other != one; ++other) {
      topology.link = std::min(topology.link, LinkBetween(*one, *other));
    }
  }
  return topology;
}

// Returns why other options leave no choice but replicated variables; empty: they do.
std::string WhyReplicated(const TrainerOptions& options) {
  const auto simulated = [](const DeviceSpec& device) {
    return device.kind == DeviceKind::kSimulated;
  };
  if (IsPlaced(options)) return "the devices share one model";
  if (options.sums == SumPlace::kGpus) return "GPUs are to sum the gradients";
  return std::any_of(options.devices.begin(), options.devices.end(), simulated)
             ? "simulated devices exchange nothing"
             : "";
}

}  // namespace

TrainerOptions WithStrategy(TrainerOptions options, const ProcessWorld& world,
                            const TrainerNotice& notice) {
  if (world.processes() > 1) {
    world.CheckSame({{"strategy", std::to_string(static_cast<int>(options.strategy))}});
  }
  if (options.strategy != StrategyKind::kAuto) return options;
  options.strategy = StrategyKind::kReplicated;
  if (options.async) {
    throw Error(ErrorKind::kInvalidArgument,
                "asynchronous updates need a parameter server, which 'auto' may not choose", {},
                "choose the parameter server");
  }
  if (const std::string why = WhyReplicated(options); !why.empty()) {
    if (notice) notice("strategy: replicated: " + why);
    return options;
  }
  const TrainingTopology topology = FindTopology(options, world);
  const ModelSize size = FindModelSize(options);
  const ChosenStrategy chosen = ChooseStrategy(topology, size);
  options.strategy = chosen.strategy;
  options.variables = chosen.variables;
  if (notice) notice("strategy: " + StrategyText(chosen, topology, size));
  return options;
}

}  // namespace recpack::train

#include "src/train/setup/make_strategies.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/train/collectives/collective.h"
#include "src/train/cpu/cpu_ops.h"
#include "src/train/setup/make_ops.h"
#include "src/train/setup/repetition.h"
#include "src/train/strategies/distributed_replicated.h"
#include "src/train/strategies/replicated.h"
#include "src/train/strategies/served_variables.h"
#include "src/train/strategies/single_device.h"

namespace recpack::train {
namespace {

constexpr size_t kBucketElements = 256 * 1024;  // 1 MiB

using Strategies = std::vector<std::unique_ptr<VariableStrategy>>;

bool AllAreGpus(const TrainerOptions& options) {
  return std::all_of(options.devices.begin(), options.devices.end(),
                     [](const DeviceSpec& device) { return device.kind == DeviceKind::kCuda; });
}

Strategies Served(const TrainerOptions& options) {
  ParameterServerOptions server{.optimizer = options.optimizer,
                                .devices = options.devices.size(),
                                .async = options.async,
                                .on_host = !AllAreGpus(options)};
  const auto on_device = [&options](size_t i) {
    return [options, i] { return MakeOps(options, i); };
  };
  switch (options.variables) {
    case VariablePlace::kCpu:
      server.keepers.push_back([] { return MakeCpuOps({.threads = 1}); });
      break;
    case VariablePlace::kFirstDevice:
      server.keepers.push_back(on_device(0));
      break;
    case VariablePlace::kSpread:
      for (size_t i = 0; i < options.devices.size(); ++i) server.keepers.push_back(on_device(i));
      break;
  }
  const auto shared = std::make_shared<ParameterServer>(std::move(server));
  Strategies strategies;
  for (size_t i = 0; i < options.devices.size(); ++i) {
    strategies.push_back(std::make_unique<ServedVariables>(shared, i));
  }
  return strategies;
}

// The master copy, and gradients while they are summed, are in host memory.
Strategies Distributed(const TrainerOptions& options, const ProcessWorld& world, bool repeats) {
  const auto master = std::make_shared<MasterCopy>(options.optimizer, world.ProcessExchange(),
                                                   MakeCpuOps({.threads = 1}));
  Strategies strategies;
  for (auto& local : LocalCollectives(static_cast<int>(options.devices.size()))) {
    strategies.push_back(std::make_unique<DistributedReplicated>(master, std::move(local),
                                                                 kBucketElements, repeats));
  }
  return strategies;
}

}  // namespace

Strategies MakeStrategies(const TrainerOptions& options, const ProcessWorld& world,
                          bool sums_on_devices) {
  if (options.strategy == StrategyKind::kParameterServer) return Served(options);
  if (options.async) {
    throw Error(ErrorKind::kInvalidArgument,
                "replicated variables cannot be updated asynchronously", {},
                "choose the parameter server");
  }
  const bool repeats = WhyNotRepeated(options, world.towers()).empty();
  if (options.strategy == StrategyKind::kDistributedReplicated) {
    return Distributed(options, world, repeats);
  }
  Strategies strategies;
  if (world.towers() == 1 && !sums_on_devices) {
    strategies.push_back(std::make_unique<SingleDevice>(
        options.optimizer,
        repeats ? SingleDevice::Update::kBeside : SingleDevice::Update::kAfterStep,
        StepsAtOnce(options, world.towers())));
    return strategies;
  }
  for (auto& collective : world.Exchange()) {
    OnDevices on_devices;
    if (sums_on_devices) {
      const int device = options.devices[strategies.size()].number;
      on_devices = [make = options.between_gpus.make, device](std::shared_ptr<Collective> host) {
        return make(std::move(host), device);
      };
    }
    strategies.push_back(std::make_unique<Replicated>(
        options.optimizer, std::move(collective), kBucketElements, repeats, std::move(on_devices)));
  }
  return strategies;
}

}  // namespace recpack::train

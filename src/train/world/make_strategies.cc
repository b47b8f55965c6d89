#include "src/train/world/make_strategies.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/train/collectives/collective.h"
#include "src/train/cpu/cpu_ops.h"
#include "src/train/setup/make_ops.h"
#include "src/train/strategies/distributed_replicated.h"
#include "src/train/strategies/replicated.h"
#include "src/train/strategies/served_variables.h"
#include "src/train/strategies/single_device.h"
#include "src/train/world/repetition.h"

namespace recpack::train {
namespace {

constexpr size_t kBucketElements = 256 * 1024;  // 1 MiB

using Strategies = std::vector<std::unique_ptr<VariableStrategy>>;

bool AllAreGpus(const TrainerOptions& options) {
  return std::all_of(options.devices.begin(), options.devices.end(),
                     [](const DeviceSpec& device) { return device.kind == DeviceKind::kCuda; });
}

// Only the first process has a keeper, unless variables are spread.
Strategies Served(const TrainerOptions& options, const ProcessWorld& world) {
  ParameterServerOptions server{.optimizer = options.optimizer,
                                .devices = options.devices.size(),
                                .async = options.async,
                                .on_host = world.processes() > 1 || !AllAreGpus(options)};
  const bool spread = options.variables == VariablePlace::kSpread;
  const auto keepers = [&](size_t process) {
    return spread ? static_cast<size_t>(world.counts()[process]) : process == 0 ? 1 : 0;
  };
  for (size_t i = 0; i < keepers(world.rank()); ++i) {
    server.keepers.push_back([&options, &world, i] {
      return options.variables == VariablePlace::kCpu ? MakeCpuOps({.threads = 1})
                                                      : MakeOps(options, i, world.processors());
    });
  }
  if (world.processes() > 1) {
    server.processes = world.ProcessExchange();
    server.bucket_elements = kBucketElements;
    for (size_t i = 0; i < world.processes(); ++i) {
      server.keepers_by_process.push_back(keepers(i));
    }
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
  if (options.strategy == StrategyKind::kParameterServer) return Served(options, world);
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

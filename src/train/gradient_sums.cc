#include "src/train/gradient_sums.h"

#include <algorithm>

#include "src/base/format.h"
#include "src/train/make_ops.h"

namespace recpack {
namespace {

constexpr char kOnHost[] = "gradients are summed in the host's memory";

// Why not on the devices; empty: they can.
std::string WhyOnHost(const TrainerOptions& options, const ProcessWorld& world) {
  if (options.strategy == StrategyKind::kDistributedReplicated) return "the master copy is there";
  if (world.processes() > 1) return "there are several processes";
  const std::vector<DeviceSpec>& devices = options.devices;
  for (auto device = devices.begin(); device != devices.end(); ++device) {
    if (device->kind != DeviceKind::kCuda) return DeviceName(*device) + " is no GPU";
    const auto same = std::find_if(devices.begin(), device, [&](const DeviceSpec& other) {
      return other.number == device->number;
    });
    if (same == device) continue;
    return format("{} and {} are one GPU, and {} takes one rank a GPU", DeviceName(*same),
                  DeviceName(*device), options.between_gpus.name);
  }
  return options.between_gpus.unavailable();
}

}  // namespace

GradientSums ChooseGradientSums(const TrainerOptions& options, const ProcessWorld& world) {
  const bool gpus =
      std::any_of(options.devices.begin(), options.devices.end(),
                  [](const DeviceSpec& device) { return device.kind == DeviceKind::kCuda; });
  if (!gpus || world.towers() == 1 || IsPlaced(options)) return {};
  if (options.strategy == StrategyKind::kParameterServer) {
    if (options.variables == VariablePlace::kCpu) {
      return {false, "variables and gradients go through the host's memory"};
    }
    const bool host = std::any_of(options.devices.begin(), options.devices.end(),
                                  [](auto& device) { return device.kind != DeviceKind::kCuda; });
    return {false, format("variables and gradients are copied from GPU to GPU{}",
                          host ? ", those of CPU devices through the host's memory" : "")};
  }
  if (!options.between_gpus.make) return {false, kOnHost};
  const std::string why = WhyOnHost(options, world);
  if (!why.empty()) return {false, format("{}: {}", kOnHost, why)};
  return {true, format("gradients are summed by {}", options.between_gpus.name)};
}

}  // namespace recpack

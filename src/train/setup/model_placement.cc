#include "src/train/setup/model_placement.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/setup/make_model.h"
#include "src/train/setup/make_ops.h"

namespace recpack::train {
namespace {

void CheckStrategy(const TrainerOptions& options) {
  const bool whole =
      options.strategy == StrategyKind::kReplicated || options.strategy == StrategyKind::kAuto;
  if (whole && !options.async) return;
  throw Error(ErrorKind::kInvalidArgument,
              "a model over several devices has its variables where they are read", {},
              "leave the strategy out");
}

// The first CPU device that is not used yet.
DeviceSpec FreeCpu(const std::vector<DeviceSpec>& devices) {
  DeviceSpec device;
  while (std::find(devices.begin(), devices.end(), device) != devices.end()) ++device.number;
  return device;
}

}  // namespace

ModelPlacement PlaceModel(const TrainerOptions& options) {
  if (!IsPlaced(options)) return {};
  for (const DeviceSpec& device : options.devices) {
    if (device.kind != DeviceKind::kSimulated) continue;
    throw Error(
        ErrorKind::kInvalidArgument,
        format("{} computes nothing: no part of a model can be placed on it", DeviceName(device)),
        {}, "choose devices of the CPU or GPUs");
  }
  CheckStrategy(options);
  ModelPlacement placement{MakeGraph(options), {}};
  placement.device_of = PlaceOperations(options.place, placement.graph, options.devices);
  return placement;
}

TrainerOptions OnDevicesThatAreThere(TrainerOptions options, const TrainerNotice& notice) {
  for (DeviceSpec& device : options.devices) {
    try {
      CheckDevice(device);
    } catch (const Error& error) {
      if (!options.soft_placement) throw;
      const DeviceSpec instead = FreeCpu(options.devices);
      if (notice) {
        notice(format("{} takes the place of {}: {}", DeviceName(instead), DeviceName(device),
                      error.what()));
      }
      device = instead;
    }
  }
  return options;
}

}  // namespace recpack::train

// Backends by the names of devices.
#pragma once

#include <memory>
#include <vector>

#include "recpack/device/runtime.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// Processes that have the same processors, and which of them this one is.
struct ProcessorShare {
  int rank = 0;
  int size = 1;
};

// Of options.devices[index]; `share`: of those that all have such devices. Throws Error:
// kUnsupported for a backend that this build has not, kDevice for a device that is not there.
std::unique_ptr<Ops> MakeOps(const TrainerOptions& options, size_t index,
                             const ProcessorShare& share = {});

// Whether one model is over all devices, and not a whole one on each.
bool IsPlaced(const TrainerOptions& options);

// The devices that are fed, each with batches of its own: of a placed model the first.
std::vector<DeviceSpec> FedDevices(const TrainerOptions& options);

// Throws Error where it is not there, or where this build has no backend for it: kDevice,
// kUnsupported.
void CheckDevice(const DeviceSpec& device);

// What brings batches to these devices; null: they stay on the host. Throws Error: kUnsupported for
// devices that cannot be fed, or trained on together; kDevice for one that is not there.
DeviceRuntime* FeedingRuntime(const TrainerOptions& options);

}  // namespace recpack::train

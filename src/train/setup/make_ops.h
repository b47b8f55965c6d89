// Makes and checks backends by the names of devices.
#pragma once

#include <memory>
#include <vector>

#include "recpack/device/runtime.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// The processes that share this one's processors: their number, and this one's rank.
struct ProcessorShare {
  int rank = 0;
  int size = 1;
};

// Makes the Ops of options.devices[index]. `share`: among processes with the same kind of devices.
// Throws Error: kUnsupported for a backend missing from this build, kDevice for a missing device.
std::unique_ptr<Ops> MakeOps(const TrainerOptions& options, size_t index,
                             const ProcessorShare& share = {});

// Tells whether one model spans all devices, instead of a whole model on each.
bool IsPlaced(const TrainerOptions& options);

// The devices that receive batches of their own; for a placed model, only the first device.
std::vector<DeviceSpec> FedDevices(const TrainerOptions& options);

// Throws Error: kDevice if the device does not exist, kUnsupported if this build has no backend for
// it.
void CheckDevice(const DeviceSpec& device);

// Runtime that copies batches to these devices; null: batches stay on the host. Throws Error:
// kUnsupported for devices that cannot be fed, or not trained on together; kDevice for a missing
// device.
DeviceRuntime* FeedingRuntime(const TrainerOptions& options);

}  // namespace recpack::train

// Backends by the names of devices.
#pragma once

#include <memory>

#include "recpack/device/runtime.h"
#include "recpack/train/trainer.h"

namespace recpack {

// Of options.devices[index]. Throws Error: kUnsupported for a backend that this build has not,
// kDevice for a device that is not there.
std::unique_ptr<Ops> MakeOps(const TrainerOptions& options, size_t index);

// What brings batches to these devices; null: they stay on the host. Throws Error: kUnsupported for
// devices that cannot be fed, or trained on together; kDevice for one that is not there.
DeviceRuntime* FeedingRuntime(const TrainerOptions& options);

}  // namespace recpack

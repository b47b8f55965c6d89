// Backends by the names of devices.
#pragma once

#include <memory>

#include "recpack/train/trainer.h"

namespace recpack {

// Of options.devices[index]. Throws Error: kUnsupported for a backend that this build has not,
// kDevice for a device that is not there.
std::unique_ptr<Ops> MakeOps(const TrainerOptions& options, size_t index);

}  // namespace recpack

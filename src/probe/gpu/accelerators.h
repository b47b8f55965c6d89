// Detects whether the machine has accelerators.
#pragma once

#include <string>

namespace recpack::probe {

// Looks in `dev` for the device files of NVIDIA and AMD GPUs, of Linux compute accelerators, and of
// devices passed through to programs (VFIO, as TPUs are).
bool AnyAccelerator(const std::string& dev = "/dev");

}  // namespace recpack::probe

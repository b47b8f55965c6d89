// Whether the machine has devices that compute by themselves.
#pragma once

#include <string>

namespace recpack::probe {

// GPUs of NVIDIA and AMD, what Linux calls compute accelerators, and devices that are given to
// programs as a whole (VFIO, as TPUs are), by their files.
bool AnyAccelerator(const std::string& dev = "/dev");

}  // namespace recpack::probe

// Converts NVML's process lists to processes of this PID namespace.
#pragma once

#include <string>
#include <vector>

#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/gpu/nvml_abi.h"

namespace recpack::probe {

// In a PID namespace (a container), older drivers return the host's PIDs or none at all; newer ones
// translate them and return PID 0 for processes outside the namespace. `proc`: "/proc".
Reading<std::vector<GpuProcess>> ProcessesHere(const std::vector<nvml::ProcessInfo>& infos,
                                               const std::string& proc);

}  // namespace recpack::probe

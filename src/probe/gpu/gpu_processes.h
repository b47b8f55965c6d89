// Which of the processes that NVML names are processes as we know them.
#pragma once

#include <string>
#include <vector>

#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/gpu/nvml_abi.h"

namespace recpack::probe {

// In a PID namespace of its own (a container) the driver gives the host's numbers or none at all;
// newer ones translate them, and then name others' processes 0. `proc`: "/proc".
Reading<std::vector<GpuProcess>> ProcessesHere(const std::vector<nvml::ProcessInfo>& infos,
                                               const std::string& proc);

}  // namespace recpack::probe

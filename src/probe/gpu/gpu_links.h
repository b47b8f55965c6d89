// Reads how GPUs are connected with each other, with NVML.
#pragma once

#include <string>
#include <vector>

#include "src/probe/gpu/nvml.h"
#include "src/probe/util/reading.h"

namespace recpack::probe {

struct GpuLink {
  int one = 0, other = 0;  // NVML's indices
  // "NVLink", or the farthest part of the machine that PCI Express passes: "one PCIe switch",
  // "several PCIe switches", "a PCIe host bridge", "one NUMA node", "several NUMA nodes".
  Reading<std::string> path;
  Reading<bool> peer_access;  // each can read the other's memory
};

// All pairs of these GPUs, which must answer: a call blocks as long as the driver does.
std::vector<GpuLink> ReadGpuLinks(const Nvml& nvml, const std::vector<int>& gpus);

}  // namespace recpack::probe

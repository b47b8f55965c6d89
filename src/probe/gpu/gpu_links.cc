#include "src/probe/gpu/gpu_links.h"

#include "src/base/format.h"

namespace recpack::probe {
namespace {

struct Pair {
  nvml::Device one = nullptr, other = nullptr;
};

// Whether both have the capability toward each other.
Reading<bool> Capable(const Nvml& nvml, const Pair& pair, unsigned capability) {
  for (const auto& [from, to] : {pair, Pair{pair.other, pair.one}}) {
    unsigned status = 0;
    const nvml::Return code = nvml.p2p_status(from, to, capability, &status);
    if (code != nvml::kSuccess) return nvml.Why(nvml.p2p_status.name, code);
    if (status != nvml::kP2pOk) return false;
  }
  return true;
}

Reading<std::string> PciPath(const Nvml& nvml, const Pair& pair) {
  unsigned level = 0;
  const nvml::Return code = nvml.common_ancestor(pair.one, pair.other, &level);
  if (code != nvml::kSuccess) return nvml.Why(nvml.common_ancestor.name, code);
  switch (level) {
    case nvml::kOneBoard:
      return std::string("one board");
    case nvml::kOneSwitch:
      return std::string("one PCIe switch");
    case nvml::kSwitches:
      return std::string("several PCIe switches");
    case nvml::kHostBridge:
      return std::string("a PCIe host bridge");
    case nvml::kNumaNode:
      return std::string("one NUMA node");
    case nvml::kNumaNodes:
      return std::string("several NUMA nodes");
    default:
      return Unavailable{format("NVML says {}, which is unknown", level)};
  }
}

GpuLink ReadLink(const Nvml& nvml, int one, int other) {
  GpuLink link{.one = one, .other = other, .path = {}, .peer_access = {}};
  Pair pair;
  for (const auto& [index, device] : {std::pair(one, &pair.one), {other, &pair.other}}) {
    const nvml::Return code = nvml.handle(static_cast<unsigned>(index), device);
    if (code == nvml::kSuccess) continue;
    link.path = nvml.Why(nvml.handle.name, code);
    link.peer_access = Unavailable{link.path.reason()};
    return link;
  }
  const Reading<bool> nvlink = Capable(nvml, pair, nvml::kP2pNvlink);
  link.path = nvlink && *nvlink ? Reading<std::string>("NVLink") : PciPath(nvml, pair);
  link.peer_access = Capable(nvml, pair, nvml::kP2pRead);
  return link;
}

}  // namespace

std::vector<GpuLink> ReadGpuLinks(const Nvml& nvml, const std::vector<int>& gpus) {
  std::vector<GpuLink> links;
  for (size_t i = 0; i < gpus.size(); ++i) {
    for (size_t k = i + 1; k < gpus.size(); ++k) links.push_back(ReadLink(nvml, gpus[i], gpus[k]));
  }
  return links;
}

}  // namespace recpack::probe

#include "src/train/world/choose_strategy.h"

#include "src/base/format.h"

namespace recpack::train {
namespace {

using enum StrategyKind;
using enum VariablePlace;

ChosenStrategy OnGpus(const TrainingTopology& topology, const ModelSize& size) {
  if (topology.link == GpuLink::kSame) {
    return {kParameterServer, kFirstDevice, "the devices are one GPU, which keeps variables once"};
  }
  if (topology.gpu_sums && topology.link == GpuLink::kNvlink) {
    return {kReplicated, kCpu, "NVLink connects the GPUs, which sum gradients among themselves"};
  }
  if (topology.gpu_sums && size.many()) {
    return {kReplicated, kCpu, "many variables, and the GPUs sum gradients among themselves"};
  }
  if (topology.link == GpuLink::kNone) {
    return {kParameterServer, kCpu, "the GPUs do not reach each other's memory"};
  }
  return {kParameterServer, kSpread, "the GPUs reach each other's memory"};
}

ChosenStrategy OverProcesses(const TrainingTopology& topology, const ModelSize& size) {
  if (topology.gpu_sums) {
    return {kReplicated, kCpu, "the GPUs of all processes sum gradients among themselves"};
  }
  if (size.many()) {
    return {kDistributedReplicated, kCpu, "many variables, of which each process updates a part"};
  }
  return {kReplicated, kCpu, "few variables, which each device updates itself"};
}

std::string Millions(uint64_t count) {
  return format("{:.1f} million", static_cast<double>(count) / 1e6);
}

std::string ChosenName(const ChosenStrategy& chosen) {
  switch (chosen.strategy) {
    case kDistributedReplicated:
      return "distributed_replicated";
    case kParameterServer:
      return format("parameter_server, variables {}", chosen.variables == kCpu ? "on the CPU"
                                                      : chosen.variables == kSpread
                                                          ? "spread"
                                                          : "on the first device");
    default:
      return "replicated";
  }
}

}  // namespace

ChosenStrategy ChooseStrategy(const TrainingTopology& topology, const ModelSize& size) {
  if (topology.devices == 1) return {kReplicated, kCpu, "nothing is exchanged"};
  if (topology.processes > 1) return OverProcesses(topology, size);
  if (topology.gpus == topology.devices) return OnGpus(topology, size);
  if (topology.gpus > 0) {
    return {kParameterServer, kCpu, "CPU devices and GPUs meet in the host's memory"};
  }
  if (size.many()) {
    return {kParameterServer, kCpu, "many variables, which are updated once for all devices"};
  }
  return {kReplicated, kCpu, "few variables, which each device updates itself"};
}

std::string StrategyText(const ChosenStrategy& chosen, const TrainingTopology& topology,
                         const ModelSize& size) {
  return format(
      "{}, for {} variables ({} in dense layers and embeddings) on {} device{}{}: {}",
      ChosenName(chosen), Millions(size.all), Millions(size.dense), topology.devices,
      topology.devices == 1 ? "" : "s",
      topology.processes == 1 ? std::string() : format(" of {} processes", topology.processes),
      chosen.why);
}

}  // namespace recpack::train

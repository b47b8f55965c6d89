#include <algorithm>
#include <cmath>

#include "src/base/format.h"
#include "src/probe/doctor/machine.h"

namespace recpack::probe {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
// PyTorch's workers pass batches through shared memory: two batches of 256 pictures of 224x224 in
// f32 are 308 MB.
constexpr uint64_t kSurelyLittleShared = 256 * kMiB;
constexpr uint64_t kLittleShared = 1024 * kMiB;
constexpr uint64_t kLittleLocked = 64 * kMiB;
constexpr uint64_t kSurelyFewFiles = 512;  // recpack's loader keeps 256 shards open
constexpr uint64_t kFewFiles = 4096;
constexpr uint64_t kLittleMemory = 2048 * kMiB;
constexpr double kLittleFree = 0.05;

std::string MiB(uint64_t bytes) { return format("{} MiB", bytes / kMiB); }

class Findings {
 public:
  void Surely(std::string what, std::string action) {
    sure_.push_back({true, std::move(what), std::move(action)});
  }
  void Perhaps(std::string what, std::string action) {
    perhaps_.push_back({false, std::move(what), std::move(action)});
  }
  std::vector<MachineFinding> All() && {
    sure_.insert(sure_.end(), std::make_move_iterator(perhaps_.begin()),
                 std::make_move_iterator(perhaps_.end()));
    return std::move(sure_);
  }

 private:
  std::vector<MachineFinding> sure_, perhaps_;
};

void CheckCores(const MachineCores& cores, Findings& findings) {
  if (cores.limit && std::isfinite(*cores.limit) && cores.used > std::ceil(*cores.limit)) {
    const int threads = std::max(1, static_cast<int>(*cores.limit));
    findings.Surely(
        format("the control group allows {:.1f} processors, but programs see {} and start as many "
               "threads, which are then throttled in each period",
               *cores.limit, cores.used),
        format("run loaders with --threads {}, or raise the limit: docker run --cpus={}", threads,
               cores.used));
  }
  const bool fixed = cores.governor && *cores.governor == "powersave" && cores.frequency_driver &&
                     !cores.frequency_driver->starts_with("intel_pstate") &&
                     !cores.frequency_driver->starts_with("amd-pstate");
  if (fixed) {
    findings.Surely("the processors' governor keeps them at their lowest clock (powersave)",
                    "cpupower frequency-set -g performance");
  }
  if (cores.numa_nodes && *cores.numa_nodes > 1) {
    findings.Perhaps(format("memory has {} NUMA nodes: access to another node's memory is slow",
                            *cores.numa_nodes),
                     "bind each rank to the node of its GPU: numactl --cpunodebind=N --membind=N");
  }
}

void CheckMemory(const Machine& machine, Findings& findings) {
  const MachineMemory& memory = machine.memory;
  if (memory.shared && *memory.shared < kLittleShared) {
    const std::string action = "docker run --shm-size=8g, or --ipc=host";
    const std::string what = format(
        "/dev/shm has {}: PyTorch's workers pass their batches through it", MiB(*memory.shared));
    if (*memory.shared < kSurelyLittleShared) {
      findings.Surely(what + " and will fail (bus error)", action);
    } else {
      findings.Perhaps(what, action);
    }
  }
  const uint64_t limit = std::min(memory.limit ? *memory.limit : kUnlimited,
                                  memory.total ? *memory.total : kUnlimited);
  if (limit < kLittleMemory) {
    findings.Perhaps(format("only {} of memory are usable", MiB(limit)),
                     "keep prefetch, batches and caches small");
  }
  if (memory.locked && *memory.locked < kLittleLocked) {
    const std::string what = format("a process may lock {} of memory", MiB(*memory.locked));
    const std::string action = "ulimit -l unlimited; docker run --ulimit memlock=-1";
    if (machine.kernel.rdma) {
      findings.Surely(what + ": NCCL and MPI cannot register memory for InfiniBand", action);
    } else if (machine.gpus.count && *machine.gpus.count > 0) {
      findings.Perhaps(what + ": GPUDirect Storage and RDMA need more", action);
    }
  }
}

void CheckKernel(const MachineKernel& kernel, Findings& findings) {
  if (kernel.open_files && *kernel.open_files < kFewFiles) {
    const std::string most = kernel.most_open_files && *kernel.most_open_files != kUnlimited
                                 ? format("{}", *kernel.most_open_files)
                                 : "65536";
    const std::string what = format("a process may open {} files", *kernel.open_files);
    const std::string action = "ulimit -n " + most + "; docker run --ulimit nofile=65536:65536";
    if (*kernel.open_files < kSurelyFewFiles) {
      findings.Surely(what + ", but a loader keeps 256 shards open", action);
    } else {
      findings.Perhaps(what + ": many PyTorch workers that pass tensors through files need more",
                       action);
    }
  }
  if (!kernel.io_uring) {
    findings.Perhaps("io_uring cannot be used: " + kernel.io_uring.reason(),
                     "nothing if the data is in memory or on fast disks; else "
                     "sysctl kernel.io_uring_disabled=0, or a seccomp profile that allows it");
  }
  if (kernel.perf_event_paranoid && *kernel.perf_event_paranoid > 2) {
    findings.Perhaps(format("kernel.perf_event_paranoid is {}: profilers (perf, Nsight Systems) "
                            "cannot sample processors",
                            *kernel.perf_event_paranoid),
                     "sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON");
  }
}

void CheckStorage(const MachineStorage& storage, Findings& findings) {
  if (storage.kind && *storage.kind == "rotating") {
    findings.Surely(format("{} is on a rotating disk: reads in random order are a hundred times "
                           "slower than in order",
                           storage.path),
                    "copy the shards to a solid state disk, or read them in window order");
  }
  if (storage.kind && storage.kind->starts_with("network")) {
    findings.Perhaps(
        format("{} is on {} ({})", storage.path, *storage.file_system, *storage.source),
        "keep shards on a local disk, or in memory (--cache), from the first epoch on");
  }
  if (storage.options && format(",{},", *storage.options).find(",sync,") != std::string::npos) {
    findings.Surely(
        format("{} is mounted with `sync`: each write waits for the disk", *storage.mount_point),
        format("mount -o remount,async {}", *storage.mount_point));
  }
  if (storage.size && storage.free && *storage.size > 0 &&
      static_cast<double>(*storage.free) < kLittleFree * static_cast<double>(*storage.size)) {
    findings.Perhaps(format("{} has {} free", storage.path, MiB(*storage.free)),
                     "free some space: checkpoints and caches need it");
  }
}

void CheckGpu(const GpuSample& gpu, Findings& findings) {
  const std::string name = format("GPU {}", gpu.device);
  if (!gpu.values) {
    return findings.Surely(format("{}: {}", name, gpu.values.reason()),
                           "run nvidia-smi -q, then reset the GPU or reboot");
  }
  const GpuValues& values = *gpu.values;
  if (values.pcie_width && values.most_pcie_width && *values.pcie_width < *values.most_pcie_width) {
    findings.Surely(format("{}'s PCIe link uses {} of {} lanes: copies are slower by that ratio",
                           name, *values.pcie_width, *values.most_pcie_width),
                    "check the slot, the riser and the BIOS; reseat the board");
  }
  if (!values.clock_reasons) return;
  for (const GpuClockReason& reason : *values.clock_reasons) {
    if (!reason.throttled) continue;
    findings.Surely(format("{} is slowed down: {}", name, reason.name),
                    "check its cooling and power: nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER");
  }
}

void CheckGpus(const MachineGpus& gpus, Findings& findings) {
  if (!gpus.count && gpus.device_files) {
    findings.Surely(
        "there are NVIDIA devices, but their driver cannot be queried: " + gpus.count.reason(),
        "run nvidia-smi; in a container set NVIDIA_DRIVER_CAPABILITIES=compute,utility");
  }
  for (const GpuSample& gpu : gpus.gpus) CheckGpu(gpu, findings);
}

}  // namespace

std::vector<MachineFinding> CheckMachine(const Machine& machine) {
  Findings findings;
  CheckCores(machine.cores, findings);
  CheckMemory(machine, findings);
  CheckKernel(machine.kernel, findings);
  CheckStorage(machine.storage, findings);
  CheckGpus(machine.gpus, findings);
  return std::move(findings).All();
}

}  // namespace recpack::probe

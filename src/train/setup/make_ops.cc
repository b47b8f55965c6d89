#include "src/train/setup/make_ops.h"

#include <algorithm>

#include "recpack/base/affinity.h"
#include "recpack/base/cpu.h"
#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/cpu/cpu_ops.h"
#include "src/train/cuda/cuda_ops.h"
#include "src/train/trace/recorded_ops.h"

namespace recpack::train {
namespace {

// CPU devices divide the processors: device i of n, over all processes, gets a contiguous part of
// those in the order of CoresFirst(), so that no two threads share a core while there are others.
CpuOptions CpuShare(const TrainerOptions& options, size_t index, const ProcessorShare& share) {
  const auto is_cpu = [](const DeviceSpec& device) { return device.kind == DeviceKind::kCpu; };
  const auto own = std::count_if(options.devices.begin(), options.devices.end(), is_cpu);
  const auto devices = own * share.size;
  const auto before =
      own * share.rank + std::count_if(options.devices.begin(),
                                       options.devices.begin() + static_cast<ptrdiff_t>(index),
                                       is_cpu);
  const int all = AvailableThreads();
  CpuOptions cpu{.threads = options.threads ? options.threads
                                            : std::max(1, all / static_cast<int>(devices))};
  if (options.bind_threads) {
    const std::vector<int> allowed = CoresFirst(AllowedProcessors());
    for (size_t i = 0; i < static_cast<size_t>(cpu.threads); ++i) {
      const size_t at = static_cast<size_t>(before) * static_cast<size_t>(cpu.threads) + i;
      cpu.processors.push_back(allowed[at % allowed.size()]);
    }
  }
  return cpu;
}

bool IsCuda(const DeviceSpec& device) { return device.kind == DeviceKind::kCuda; }

}  // namespace

bool IsPlaced(const TrainerOptions& options) { return options.place != "one"; }

std::vector<DeviceSpec> FedDevices(const TrainerOptions& options) {
  if (IsPlaced(options)) return {options.devices[0]};
  return options.devices;
}

void CheckDevice(const DeviceSpec& device) {
  if (!IsCuda(device)) return;
  DeviceRuntime* const runtime = LinkedRuntime();
  if (runtime == nullptr) {
    throw Error(
        ErrorKind::kUnsupported,
        format("{} cannot be trained on: this program was linked without CUDA", DeviceName(device)),
        {}, "build where CMake finds a CUDA compiler and cudnn.h, or choose cpu:0");
  }
  const DeviceCount there = runtime->Count();
  if (device.number < there.devices) return;
  throw Error(
      ErrorKind::kDevice,
      format(
          "there is no {}: {}", DeviceName(device),
          there.reason.empty() ? format("this machine has {} GPUs", there.devices) : there.reason),
      {},
      there.devices > 0
          ? format("GPUs are numbered from 0; cuda:0/0, cuda:0/1 are logical devices of one, "
                   "cpu:0, cpu:1 parts of the processor; or let --soft-placement choose")
          : "choose cpu:0, cpu:1 or further parts of the processor, or let "
            "--soft-placement do it");
}

DeviceRuntime* FeedingRuntime(const TrainerOptions& options) {
  const std::vector<DeviceSpec> devices = FedDevices(options);
  if (std::none_of(devices.begin(), devices.end(), IsCuda)) return nullptr;
  for (const DeviceSpec& device : devices) CheckDevice(device);
  return LinkedRuntime();
}

std::unique_ptr<Ops> MakeOps(const TrainerOptions& options, size_t index,
                             const ProcessorShare& share) {
  const DeviceSpec& device = options.devices[index];
  if (device.kind == DeviceKind::kCpu) {
    auto ops = MakeCpuOps(CpuShare(options, index, share));
    if (ops->Computes(options.type)) {
      return RecordOperations(std::move(ops), static_cast<uint16_t>(index));
    }
    throw Error(ErrorKind::kUnsupported,
                format("{} cannot compute bf16: this processor has no AVX-512", DeviceName(device)),
                {}, "choose --dtype f32");
  }
  if (IsCuda(device)) return MakeCudaOps({.device = device.number});
  throw Error(ErrorKind::kUnsupported, format("{} cannot be trained on yet", DeviceName(device)));
}

}  // namespace recpack::train

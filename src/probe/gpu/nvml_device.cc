#include "src/probe/gpu/nvml_device.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "src/base/format.h"
#include "src/probe/gpu/gpu_processes.h"

namespace recpack::probe {
namespace {

// Thrown if the whole GPU is unusable.
struct Fault {
  nvml::Return code;
  Unavailable why;
};

bool IsFault(nvml::Return code) {
  constexpr nvml::Return kFaults[] = {
      nvml::kUninitialized, nvml::kDriverNotLoaded, nvml::kTimeout,         nvml::kIrqIssue,
      nvml::kGpuIsLost,     nvml::kResetRequired,   nvml::kOperatingSystem, nvml::kVersionMismatch};
  return std::find(std::begin(kFaults), std::end(kFaults), code) != std::end(kFaults);
}

struct NamedBit {
  unsigned long long bit;
  std::string_view name;
  bool throttled;
};

// Bits of NVML's nvmlClocksEventReasons.
constexpr NamedBit kClockReasons[] = {
    {0x1, "idle", false},
    {0x2, "clocks set by the user", false},
    {0x4, "software power cap", true},
    {0x8, "hardware slowdown", true},
    {0x10, "sync boost", false},
    {0x20, "software thermal slowdown", true},
    {0x40, "hardware thermal slowdown", true},
    {0x80, "hardware power brake", true},
    {0x100, "clocks set for the display", false},
};

}  // namespace

NvmlDevice::NvmlDevice(std::shared_ptr<const Nvml> nvml, int index,
                       const GpuSamplerOptions& options)
    : nvml_(std::move(nvml)), index_(index), options_(options), gpm_(nvml_) {
  known_.device = index;
}

template <typename Function, typename... Args>
nvml::Return NvmlDevice::Call(const Function& function, Args... args) {
  doing_.store(function.name, std::memory_order_relaxed);
  const nvml::Return code = function(args...);
  if (IsFault(code)) throw Fault{code, nvml_->Why(function.name, code)};
  return code;
}

template <typename T, typename Function, typename... Selector>
Reading<T> NvmlDevice::Number(const Function& function, T unit, Selector... selector) {
  unsigned value = 0;
  const nvml::Return code = Call(function, handle_, selector..., &value);
  if (code != nvml::kSuccess) return nvml_->Why(function.name, code);
  return static_cast<T>(value) * unit;
}

GpuSample NvmlDevice::Read(int64_t now) {
  try {
    if (handle_ == nullptr) Acquire();
    known_.values = ReadValues(now);
    known_.time = now;
  } catch (const Fault& fault) {
    if (known_.values || known_.time == 0) known_.time = now;
    known_.values = fault.why;
    handle_ = nullptr;
    // The driver was unloaded: it may have been loaded again.
    if (fault.code == nvml::kUninitialized || fault.code == nvml::kDriverNotLoaded) nvml_->init();
  }
  return known_;
}

void NvmlDevice::Acquire() {
  const nvml::Return code = Call(nvml_->handle, static_cast<unsigned>(index_), &handle_);
  if (code != nvml::kSuccess) throw Fault{code, nvml_->Why(nvml_->handle.name, code)};
  known_.name = Text(nvml_->name);
  known_.uuid = Text(nvml_->uuid);
  unsigned mode = 0;
  unsigned pending = 0;
  known_.mig = Call(nvml_->mig_mode, handle_, &mode, &pending) == nvml::kSuccess && mode != 0;
  slow_read_ = 0;
  gpm_.Forget();
}

Reading<std::string> NvmlDevice::Text(const Nvml::Text& function) {
  char text[nvml::kNameSize] = {};
  const nvml::Return code = Call(function, handle_, text, nvml::kNameSize);
  if (code != nvml::kSuccess) return nvml_->Why(function.name, code);
  return std::string(text, ::strnlen(text, nvml::kNameSize));
}

void NvmlDevice::ReadSlow() {
  constexpr double kMilliwatt = 1e-3;
  slow_.power_limit = Number(nvml_->power_limit, kMilliwatt);
  slow_.sm_clock_max = Number(nvml_->max_clock, 1, nvml::kClockSm);
  slow_.pcie_generation = Number(nvml_->pcie_generation, 1);
  slow_.pcie_width = Number(nvml_->pcie_width, 1);
  slow_.most_pcie_generation = Number(nvml_->most_pcie_generation, 1);
  slow_.most_pcie_width = Number(nvml_->most_pcie_width, 1);
  slow_.processes = Processes();
}

GpuValues NvmlDevice::ReadValues(int64_t now) {
  if (slow_read_ == 0 || now - slow_read_ >= options_.slow_interval.count()) {
    ReadSlow();
    slow_read_ = now;
  }
  GpuValues values = slow_;
  ReadUtilisation(values);
  values.power = Number(nvml_->power, 1e-3);
  values.sm_clock = Number(nvml_->clock, 1, nvml::kClockSm);
  values.memory_clock = Number(nvml_->clock, 1, nvml::kClockMemory);
  values.clock_reasons = ClockReasons();
  ReadMemory(values);
  values.temperature = Number(nvml_->temperature, 1, nvml::kTemperatureGpu);

  doing_.store(nvml_->gpm_sample.name, std::memory_order_relaxed);
  nvml::Return status = nvml::kSuccess;
  const GpmReading& gpm =
      gpm_.Read(handle_, known_.mig, now, options_.gpm_interval.count(), status);
  if (IsFault(status)) throw Fault{status, Unavailable{gpm.counters.sm_active.reason()}};
  values.counters = gpm.counters;
  values.pcie_rx = gpm.pcie_rx;
  values.pcie_tx = gpm.pcie_tx;
  constexpr double kKilobyte = 1000;
  if (!values.pcie_rx) values.pcie_rx = Number(nvml_->pcie, kKilobyte, nvml::kPcieRx);
  if (!values.pcie_tx) values.pcie_tx = Number(nvml_->pcie, kKilobyte, nvml::kPcieTx);
  return values;
}

void NvmlDevice::ReadUtilisation(GpuValues& values) {
  nvml::Utilization rates = {};
  const nvml::Return code = Call(nvml_->utilization, handle_, &rates);
  if (code == nvml::kSuccess) {
    values.utilisation = rates.gpu / 100.0;
    values.memory_utilisation = rates.memory / 100.0;
    return;
  }
  const Unavailable why =
      known_.mig
          ? Unavailable{"the GPU is split into MIG devices, whose utilisation NVML does not give"}
          : nvml_->Why(nvml_->utilization.name, code);
  values.utilisation = why;
  values.memory_utilisation = why;
}

void NvmlDevice::ReadMemory(GpuValues& values) {
  nvml::Memory2 memory = {.version = nvml::kMemory2Version};
  nvml::Return code = Call(nvml_->memory2, handle_, &memory);
  const char* function = nvml_->memory2.name;
  if (code != nvml::kSuccess) {  // an older driver: counts its reserved memory as used
    nvml::Memory older = {};
    code = Call(nvml_->memory, handle_, &older);
    function = nvml_->memory.name;
    memory.used = older.used;
    memory.total = older.total;
  }
  if (code == nvml::kSuccess) {
    values.memory_used = uint64_t{memory.used};
    values.memory_total = uint64_t{memory.total};
  } else {
    values.memory_used = values.memory_total = nvml_->Why(function, code);
  }
}

Reading<std::vector<GpuClockReason>> NvmlDevice::ClockReasons() {
  unsigned long long bits = 0;
  const auto& function =
      nvml_->clock_reasons.function != nullptr ? nvml_->clock_reasons : nvml_->throttle_reasons;
  const nvml::Return code = Call(function, handle_, &bits);
  if (code != nvml::kSuccess) return nvml_->Why(function.name, code);
  std::vector<GpuClockReason> reasons;
  for (const NamedBit& reason : kClockReasons) {
    if ((bits & reason.bit) == 0) continue;
    reasons.push_back({std::string(reason.name), reason.throttled});
    bits &= ~reason.bit;
  }
  if (bits != 0) reasons.push_back({format("NVML's clock event reason {:#x}", bits), false});
  return reasons;
}

Reading<std::vector<GpuProcess>> NvmlDevice::Processes() {
  const auto& function =
      nvml_->processes3.function != nullptr ? nvml_->processes3 : nvml_->processes2;
  std::vector<nvml::ProcessInfo> infos(16);
  auto count = static_cast<unsigned>(infos.size());
  nvml::Return code = Call(function, handle_, &count, infos.data());
  for (int tries = 0; code == nvml::kInsufficientSize && tries < 3; ++tries) {
    infos.resize(count + 16);  // more processes may start in the meantime
    count = static_cast<unsigned>(infos.size());
    code = Call(function, handle_, &count, infos.data());
  }
  if (code != nvml::kSuccess) return nvml_->Why(function.name, code);
  infos.resize(std::min<size_t>(count, infos.size()));
  return ProcessesHere(infos, options_.proc);
}

}  // namespace recpack::probe

// Reads one GPU with NVML.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "src/probe/gpu/gpm.h"
#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/gpu/nvml.h"

namespace recpack::probe {

// Not thread-safe, except doing().
class NvmlDevice {
 public:
  // `now`: CLOCK_MONOTONIC ns.
  NvmlDevice(std::shared_ptr<const Nvml> nvml, int index, const GpuSamplerOptions& options);

  // Reads the GPU. Values that are unavailable contain the reason. Blocks as long as the driver
  // does.
  GpuSample Read(int64_t now);

  // Returns the NVML function that is being called, or was called last.
  const char* doing() const noexcept { return doing_.load(std::memory_order_relaxed); }

 private:
  // Calls the function. Throws Fault if the result means that the whole GPU is unusable.
  template <typename Function, typename... Args>
  nvml::Return Call(const Function& function, Args... args);
  template <typename T, typename Function, typename... Selector>
  Reading<T> Number(const Function& function, T unit, Selector... selector);

  void Acquire();
  void ReadSlow();
  GpuValues ReadValues(int64_t now);
  Reading<std::string> Text(const Nvml::Text& function);
  void ReadUtilisation(GpuValues& values);
  void ReadMemory(GpuValues& values);
  Reading<std::vector<GpuClockReason>> ClockReasons();
  Reading<std::vector<GpuProcess>> Processes();

  const std::shared_ptr<const Nvml> nvml_;
  const int index_;
  const GpuSamplerOptions options_;
  std::atomic<const char*> doing_ = "nvmlDeviceGetHandleByIndex_v2";
  nvml::Device handle_ = nullptr;
  GpuSample known_;  // last sample: rarely changing values, and the fault
  GpuValues slow_;
  Gpm gpm_;
  int64_t slow_read_ = 0;
};

}  // namespace recpack::probe

// NVML's functions, loaded at run time.
#pragma once

#include <string>

#include "recpack/base/shared_library.h"
#include "src/probe/gpu/nvml_abi.h"
#include "src/probe/util/reading.h"

namespace recpack::probe {

// A function that an older driver may lack: calls then return kFunctionNotFound.
template <typename Signature>
struct NvmlFunction {
  const char* name;
  Signature* function = nullptr;

  template <typename... Args>
  nvml::Return operator()(Args... args) const {
    return function == nullptr ? nvml::kFunctionNotFound : function(args...);
  }
};

struct Nvml {
  using Return = nvml::Return;
  using Device = nvml::Device;
  using Number = NvmlFunction<Return(Device, unsigned*)>;
  using Text = NvmlFunction<Return(Device, char*, unsigned)>;
  using Processes = NvmlFunction<Return(Device, unsigned*, nvml::ProcessInfo*)>;
  using ClockReasons = NvmlFunction<Return(Device, unsigned long long*)>;

  // Throws Error (kUnsupported) if the library cannot be loaded.
  explicit Nvml(const std::string& path);
  ~Nvml();
  Nvml(const Nvml&) = delete;

  // Returns why a call failed, and what would help.
  Unavailable Why(const char* function, Return code) const;

  SharedLibrary library;
  NvmlFunction<Return()> init{"nvmlInit_v2"};
  NvmlFunction<Return()> shutdown{"nvmlShutdown"};
  NvmlFunction<const char*(Return)> error_string{"nvmlErrorString"};
  NvmlFunction<Return(char*, unsigned)> driver_version{"nvmlSystemGetDriverVersion"};
  NvmlFunction<Return(int*)> cuda_version{"nvmlSystemGetCudaDriverVersion_v2"};  // 13000: 13.0
  NvmlFunction<Return(unsigned*)> count{"nvmlDeviceGetCount_v2"};
  NvmlFunction<Return(unsigned, Device*)> handle{"nvmlDeviceGetHandleByIndex_v2"};
  Text name{"nvmlDeviceGetName"};
  Text uuid{"nvmlDeviceGetUUID"};
  NvmlFunction<Return(Device, Device, unsigned, unsigned*)> p2p_status{"nvmlDeviceGetP2PStatus"};
  NvmlFunction<Return(Device, Device, unsigned*)> common_ancestor{
      "nvmlDeviceGetTopologyCommonAncestor"};
  NvmlFunction<Return(Device, unsigned*, unsigned*)> mig_mode{"nvmlDeviceGetMigMode"};
  NvmlFunction<Return(Device, nvml::Utilization*)> utilization{"nvmlDeviceGetUtilizationRates"};
  Number power{"nvmlDeviceGetPowerUsage"};                                            // mW
  Number power_limit{"nvmlDeviceGetEnforcedPowerLimit"};                              // mW
  NvmlFunction<Return(Device, unsigned, unsigned*)> clock{"nvmlDeviceGetClockInfo"};  // MHz
  NvmlFunction<Return(Device, unsigned, unsigned*)> max_clock{"nvmlDeviceGetMaxClockInfo"};
  ClockReasons clock_reasons{"nvmlDeviceGetCurrentClocksEventReasons"};
  ClockReasons throttle_reasons{"nvmlDeviceGetCurrentClocksThrottleReasons"};  // its older name
  NvmlFunction<Return(Device, nvml::Memory2*)> memory2{"nvmlDeviceGetMemoryInfo_v2"};
  NvmlFunction<Return(Device, nvml::Memory*)> memory{"nvmlDeviceGetMemoryInfo"};
  // KB/s. Takes 20 ms.
  NvmlFunction<Return(Device, unsigned, unsigned*)> pcie{"nvmlDeviceGetPcieThroughput"};
  Number pcie_generation{"nvmlDeviceGetCurrPcieLinkGeneration"};
  Number pcie_width{"nvmlDeviceGetCurrPcieLinkWidth"};
  Number most_pcie_generation{"nvmlDeviceGetMaxPcieLinkGeneration"};
  Number most_pcie_width{"nvmlDeviceGetMaxPcieLinkWidth"};
  NvmlFunction<Return(Device, unsigned, unsigned*)> temperature{"nvmlDeviceGetTemperature"};
  Processes processes3{"nvmlDeviceGetComputeRunningProcesses_v3"};
  Processes processes2{"nvmlDeviceGetComputeRunningProcesses_v2"};
  NvmlFunction<Return(Device, nvml::GpmSupport*)> gpm_support{"nvmlGpmQueryDeviceSupport"};
  NvmlFunction<Return(nvml::GpmSample*)> gpm_alloc{"nvmlGpmSampleAlloc"};
  NvmlFunction<Return(nvml::GpmSample)> gpm_free{"nvmlGpmSampleFree"};
  NvmlFunction<Return(Device, nvml::GpmSample)> gpm_sample{"nvmlGpmSampleGet"};
  NvmlFunction<Return(nvml::GpmMetricsGet*)> gpm_metrics{"nvmlGpmMetricsGet"};
};

}  // namespace recpack::probe

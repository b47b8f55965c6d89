#include "src/probe/gpu/nvml.h"

#include <string_view>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::probe {
namespace {

// Returns advice for the user; empty if there is none.
std::string Advice(std::string_view function, nvml::Return code) {
  switch (code) {
    case nvml::kNoPermission:
      if (function.starts_with("nvmlGpm")) {
        return "run as root or with CAP_SYS_ADMIN, or load the driver with "
               "NVreg_RestrictProfilingToAdminUsers=0";
      }
      return "run as root, or as a user who may read and write /dev/nvidia*";
    case nvml::kOperatingSystem:
      return "the container or cgroup must be given the devices /dev/nvidia*";
    case nvml::kDriverNotLoaded:
      return "load the NVIDIA driver; in a container, start it with its GPUs (docker: --gpus all)";
    case nvml::kVersionMismatch:
      return "the driver was updated: reload it or reboot; in a container, restart it";
    case nvml::kResetRequired:
      return "reset it (nvidia-smi --gpu-reset) or reboot";
    case nvml::kFunctionNotFound:
      return "a newer driver has it";
    default:
      return {};
  }
}

}  // namespace

Nvml::Nvml(const std::string& path)
    : library(path, "",
              "install the NVIDIA driver; in a container, start it with its GPUs and the utility "
              "capability (docker: --gpus all, NVIDIA_DRIVER_CAPABILITIES=compute,utility)") {
  const auto find = [this](auto& function) {
    try {
      library.Find(function.function, function.name);
    } catch (const Error&) {  // an older driver: calls return kFunctionNotFound
    }
  };
  const auto find_all = [&find](auto&... functions) { (find(functions), ...); };
  find_all(init, shutdown, error_string, driver_version, cuda_version, count, handle, name, uuid,
           p2p_status, common_ancestor, mig_mode, utilization, power, power_limit, clock, max_clock,
           clock_reasons, throttle_reasons, memory2, memory, pcie, pcie_generation, pcie_width,
           most_pcie_generation, most_pcie_width, temperature, processes3, processes2, gpm_support,
           gpm_alloc, gpm_free, gpm_sample, gpm_metrics);
}

Nvml::~Nvml() { shutdown(); }

Unavailable Nvml::Why(const char* function, Return code) const {
  const char* text = code == nvml::kFunctionNotFound || error_string.function == nullptr
                         ? nullptr
                         : error_string.function(code);
  std::string reason =
      code == nvml::kFunctionNotFound
          ? format("this driver has no {}", function)
          : format("{}: {} (NVML error {})", function, text == nullptr ? "failed" : text, code);
  if (const std::string advice = Advice(function, code); !advice.empty()) {
    reason += "; " + advice;
  }
  return {reason};
}

}  // namespace recpack::probe

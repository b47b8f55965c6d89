// Hardware counters of a GPU (GPM), as means between two readings.
#pragma once

#include <cstdint>
#include <memory>

#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/gpu/nvml.h"

namespace recpack::probe {

// The reason for missing values at first.
inline constexpr char kFirstReading[] = "it is a mean between two readings, and this is the first";

struct GpmReading {
  GpuCounters counters;
  Reading<double> pcie_rx;  // bytes/s
  Reading<double> pcie_tx;
};

class Gpm {
 public:
  explicit Gpm(std::shared_ptr<const Nvml> nvml);
  ~Gpm();
  Gpm(const Gpm&) = delete;

  // Discards earlier samples, after the GPU was reset or the driver reloaded.
  void Forget() noexcept { sampled_ = 0; }

  // Returns means since the last reading; within `interval` [ns] of it, returns the previous
  // result. `status`: result of the call that failed, which tells whether the GPU is lost.
  const GpmReading& Read(nvml::Device device, bool mig, int64_t now, int64_t interval,
                         nvml::Return& status);

 private:
  nvml::Return Sample(nvml::Device device, const char*& function);
  void TakeMetrics();
  void SetUnavailable(const Unavailable& why);

  const std::shared_ptr<const Nvml> nvml_;
  nvml::GpmSample samples_[2] = {};  // previous, last
  int64_t sampled_ = 0;              // time of the last sample; 0: none
  GpmReading last_;
};

}  // namespace recpack::probe

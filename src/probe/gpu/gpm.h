// The hardware counters of a GPU, between one reading and the next.
#pragma once

#include <cstdint>
#include <memory>

#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/gpu/nvml.h"

namespace recpack::probe {

// Why there is nothing yet.
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

  // Of another life of the GPU: what was sampled before means nothing now.
  void Forget() noexcept { sampled_ = 0; }

  // Means since the last time it was read, at least `interval` (ns) ago; until then what it gave
  // then. `status`: of the call that failed, for the caller to see whether the GPU is lost.
  const GpmReading& Read(nvml::Device device, bool mig, int64_t now, int64_t interval,
                         nvml::Return& status);

 private:
  nvml::Return Sample(nvml::Device device, const char*& function);
  void TakeMetrics();
  void SetUnavailable(const Unavailable& why);

  const std::shared_ptr<const Nvml> nvml_;
  nvml::GpmSample samples_[2] = {};  // the one before, the last
  int64_t sampled_ = 0;              // when; 0: never
  GpmReading last_;
};

}  // namespace recpack::probe

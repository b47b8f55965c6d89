// Samples NVIDIA GPUs with NVML, which is loaded at run time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/probe/gpu/gpu_links.h"
#include "src/probe/util/reading.h"

namespace recpack::probe {

struct GpuProcess {
  int pid = 0;
  Reading<uint64_t> memory;  // bytes on this GPU
};

// A reason for the current clocks.
struct GpuClockReason {
  std::string name;
  bool throttled = false;  // slows the GPU below what its work and its user ask for
};

// Hardware counters of Hopper and newer (GPM), as means since the previous reading. Shares: 0 to 1.
struct GpuCounters {
  Reading<double> sm_active;      // SMs with work
  Reading<double> sm_occupancy;   // share of the maximum of resident warps
  Reading<double> tensor_active;  // tensor cores
  Reading<double> dram_active;    // share of the device memory's bandwidth
  Reading<double> nvlink_rx;      // bytes/s, all links
  Reading<double> nvlink_tx;
};

struct GpuValues {
  // Share (0 to 1) of the driver's last 1/6 to 1 s in which at least one kernel ran, however small,
  // and in which device memory was read or written.
  Reading<double> utilisation;
  Reading<double> memory_utilisation;
  Reading<double> power;  // W
  Reading<double> power_limit;
  Reading<int> sm_clock;      // MHz
  Reading<int> sm_clock_max;  // highest possible
  Reading<int> memory_clock;
  Reading<std::vector<GpuClockReason>> clock_reasons;
  Reading<uint64_t> memory_used;  // bytes
  Reading<uint64_t> memory_total;
  // Bytes/s to and from the GPU: since the previous reading with GPM, else over 20 ms.
  Reading<double> pcie_rx;
  Reading<double> pcie_tx;
  Reading<int> pcie_generation;       // current: idle GPUs lower it
  Reading<int> pcie_width;            // lanes
  Reading<int> most_pcie_generation;  // highest that both GPU and board support
  Reading<int> most_pcie_width;
  Reading<int> temperature;  // degrees Celsius
  Reading<std::vector<GpuProcess>> processes;
  GpuCounters counters;
};

struct GpuSample {
  int device = 0;    // NVML's index: by PCI address, regardless of CUDA_VISIBLE_DEVICES
  int64_t time = 0;  // CLOCK_MONOTONIC ns: of the reading, or since when values are missing
  Reading<std::string> name;
  Reading<std::string> uuid;  // "GPU-...", as in CUDA_VISIBLE_DEVICES
  bool mig = false;           // split into MIG devices
  Reading<GpuValues> values;  // unavailable while the GPU is lost, in reset or not responding
};

struct GpuSamplerOptions {
  std::string library = "libnvidia-ml.so.1";
  std::string proc = "/proc";
  // Longest wait of Sample(). GPUs that have not answered by then return their last values.
  std::chrono::nanoseconds patience = std::chrono::milliseconds(60);
  // A GPU that takes longer to answer is unavailable until it does.
  std::chrono::nanoseconds late = std::chrono::seconds(2);
  // Interval of values that are slow to read or rarely change: processes, the power limit.
  std::chrono::nanoseconds slow_interval = std::chrono::seconds(1);
  // Interval of GPM, which updates its counters every 100 ms.
  std::chrono::nanoseconds gpm_interval = std::chrono::milliseconds(150);
};

// Reads each GPU in its own thread, so that a GPU that hangs does not block the others. Needs only
// the permission to open /dev/nvidia*. Not thread-safe.
class GpuSampler {
 public:
  explicit GpuSampler(GpuSamplerOptions options = {});
  // Detaches the thread of a GPU that does not answer within a second.
  ~GpuSampler();

  // Returns the number of GPUs, or the reason why it is unknown: no driver, no permission.
  const Reading<int>& devices() const noexcept;
  // Returns the driver's version.
  const Reading<std::string>& driver() const noexcept;
  // Returns the newest CUDA version that the driver supports, "13.0".
  const Reading<std::string>& cuda() const noexcept;

  // Returns a sample for each GPU. Does not throw: samples contain the faults, and a GPU that has
  // recovered is read again.
  std::vector<GpuSample> Sample();

  // Returns how the GPUs that these samples have values of are connected.
  std::vector<GpuLink> Links(const std::vector<GpuSample>& samples) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::probe

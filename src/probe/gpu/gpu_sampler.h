// What the driver tells of NVIDIA's GPUs (NVML, loaded at run time).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/probe/util/reading.h"

namespace recpack::probe {

struct GpuProcess {
  int pid = 0;
  Reading<uint64_t> memory;  // bytes on this GPU
};

// Why the clocks are where they are.
struct GpuClockReason {
  std::string name;
  bool throttled = false;  // it keeps the GPU slower than its work and its user would have it
};

// Hardware counters of Hopper and newer (GPM), means since the reading before. Shares are of 1.
struct GpuCounters {
  Reading<double> sm_active;      // SMs with work
  Reading<double> sm_occupancy;   // warps, of those that could be resident
  Reading<double> tensor_active;  // tensor cores
  Reading<double> dram_active;    // device memory's bandwidth
  Reading<double> nvlink_rx;      // bytes/s, all links
  Reading<double> nvlink_tx;
};

struct GpuValues {
  // Share (of 1) of the driver's last 1/6 to 1 s in which at least one kernel ran, however small,
  // and in which device memory was read or written.
  Reading<double> utilisation;
  Reading<double> memory_utilisation;
  Reading<double> power;  // W
  Reading<double> power_limit;
  Reading<int> sm_clock;      // MHz
  Reading<int> sm_clock_max;  // that it can have
  Reading<int> memory_clock;
  Reading<std::vector<GpuClockReason>> clock_reasons;
  Reading<uint64_t> memory_used;  // bytes
  Reading<uint64_t> memory_total;
  // Bytes/s to and from the GPU: by GPM since the reading before, else over 20 ms.
  Reading<double> pcie_rx;
  Reading<double> pcie_tx;
  Reading<int> pcie_generation;       // of the link now: idle GPUs lower it
  Reading<int> pcie_width;            // lanes
  Reading<int> most_pcie_generation;  // that GPU and board have together
  Reading<int> most_pcie_width;
  Reading<int> temperature;  // degrees Celsius
  Reading<std::vector<GpuProcess>> processes;
  GpuCounters counters;
};

struct GpuSample {
  int device = 0;  // NVML's number: in the order of PCI addresses, whatever CUDA_VISIBLE_DEVICES is
  int64_t time = 0;  // CLOCK_MONOTONIC ns: when it was read, or since when there are no values
  Reading<std::string> name;
  Reading<std::string> uuid;  // "GPU-...", as CUDA_VISIBLE_DEVICES takes it
  bool mig = false;           // it is split into MIG devices
  Reading<GpuValues> values;  // unavailable while the whole GPU is: lost, in reset, not answering
};

struct GpuSamplerOptions {
  std::string library = "libnvidia-ml.so.1";
  std::string proc = "/proc";
  // Sample() waits so long for GPUs to answer; those that have not give what they gave last.
  std::chrono::nanoseconds patience = std::chrono::milliseconds(60);
  // A GPU that takes longer to answer is unavailable until it has.
  std::chrono::nanoseconds late = std::chrono::seconds(2);
  // Between readings of what is slow to read or rarely changes: processes, the power limit.
  std::chrono::nanoseconds slow_interval = std::chrono::seconds(1);
  // Between readings of GPM, which renews its counters every 100 ms.
  std::chrono::nanoseconds gpm_interval = std::chrono::milliseconds(150);
};

// Each GPU has a thread that asks NVML, so that one that hangs holds up nobody. Needs no rights but
// to open /dev/nvidia*. One thread at a time calls it.
class GpuSampler {
 public:
  explicit GpuSampler(GpuSamplerOptions options = {});
  // A GPU that does not answer is left to itself after a second.
  ~GpuSampler();

  // How many GPUs there are, or why that is not known: no driver, no right.
  const Reading<int>& devices() const noexcept;
  const Reading<std::string>& driver() const noexcept;  // its version
  // The newest CUDA that the driver runs, "13.0".
  const Reading<std::string>& cuda() const noexcept;

  // One for each GPU. Throws nothing: faults are in the samples, and a GPU that works again is read
  // again.
  std::vector<GpuSample> Sample();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::probe

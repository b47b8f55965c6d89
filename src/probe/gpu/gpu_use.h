// Summary of a GPU's use over some time, from its samples (gpu_sampler.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace recpack::probe {

// Means over the samples. Values that were never read are missing.
struct GpuUse {
  using Figure = std::optional<double>;

  int device = 0;  // NVML's index
  std::string name;
  bool used = false;     // by a process of the program; false: unknown
  double seconds = 0;    // from its first sample with values to its last
  uint64_t samples = 0;  // with values
  Figure utilisation;    // share of time in which at least one kernel ran, however small
  // Seconds with and without a running kernel between the first step and the last.
  Figure busy_in_steps, idle_in_steps;
  Figure memory_utilisation;  // share of time in which device memory was read or written
  Figure power;               // W
  Figure power_limit;         // W
  Figure busy_clock;          // MHz, of the SMs, while kernels ran at least half of the time
  Figure highest_clock;       // MHz, highest possible
  // Share of the same samples in which the GPU was throttled, and the most frequent reason.
  Figure throttled_share;
  std::string throttled_by;
  // Time since when kernels have run without a pause and hardly used memory, which is typical of
  // kernels that wait for something; CLOCK_MONOTONIC ns.
  std::optional<int64_t> spins_since;
};

}  // namespace recpack::probe

// What a GPU did over some time, added up from what the driver tells of it (gpu_sampler.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace recpack::probe {

// Means over the samples; what was never read is missing.
struct GpuUse {
  using Figure = std::optional<double>;

  int device = 0;  // NVML's number
  std::string name;
  bool used = false;     // a process of the program was on it; else that could not be seen
  double seconds = 0;    // from its first sample with values to its last
  uint64_t samples = 0;  // with values
  Figure utilisation;    // share of time in which at least one kernel ran, however small
  // Seconds with a kernel, however small, between the first step and the last one, and without.
  Figure busy_in_steps, idle_in_steps;
  Figure memory_utilisation;  // share of time in which device memory was read or written
  Figure power;               // W
  Figure power_limit;         // W
  Figure busy_clock;          // MHz, of the SMs, while kernels ran at least half of the time
  Figure highest_clock;       // MHz, that they can have
  // Of the samples while kernels ran so: those in which the GPU was kept slower than it can be,
  // and by what most often.
  Figure throttled_share;
  std::string throttled_by;
  // Since when kernels have run all the time and hardly touched memory, as kernels do that wait for
  // something; CLOCK_MONOTONIC ns.
  std::optional<int64_t> spins_since;
};

}  // namespace recpack::probe

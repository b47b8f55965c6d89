// A thread that asks one GPU.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/gpu/nvml_device.h"

namespace recpack::probe {

// Why there are no values at first.
inline constexpr char kNotAnsweredYet[] = "NVML has not answered yet";

class GpuWatch {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  GpuWatch(std::shared_ptr<const Nvml> nvml, int index, const GpuSamplerOptions& options);
  ~GpuWatch();  // as Stop(), at once
  GpuWatch(const GpuWatch&) = delete;

  // Wants a reading, where none is under way.
  void Ask();
  // What was read last; waits until `until` for the reading that is under way.
  GpuSample Get(TimePoint until);
  // Ends the thread; one that still waits for the driver at `until` is left to itself.
  void Stop(TimePoint until);

 private:
  struct Shared;
  static void Work(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;  // the thread may outlive this
  std::thread thread_;
};

}  // namespace recpack::probe

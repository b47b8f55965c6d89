// Thread that reads one GPU.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/gpu/nvml_device.h"

namespace recpack::probe {

// The reason for missing values at first.
inline constexpr char kNotAnsweredYet[] = "NVML has not answered yet";

class GpuWatch {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  GpuWatch(std::shared_ptr<const Nvml> nvml, int index, const GpuSamplerOptions& options);
  ~GpuWatch();  // calls Stop() without waiting
  GpuWatch(const GpuWatch&) = delete;

  // Requests a reading, unless one is in progress.
  void Ask();
  // Waits until `until` for a reading in progress. Returns the last reading.
  GpuSample Get(TimePoint until);
  // Ends the thread. Detaches it if it still waits for the driver at `until`.
  void Stop(TimePoint until);

 private:
  struct Shared;
  static void Work(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;  // the thread may outlive this
  std::thread thread_;
};

}  // namespace recpack::probe

// Simulated device whose kernels are launched one by one, with the events that CUPTI would record.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>

#include "bench/probe/busy.h"
#include "recpack/base/event_log.h"

namespace recpack::bench {

inline constexpr int64_t kKernel = 20'000;  // ns

// Records kernels that take `work` in total. The host launches them one after the other, and each
// launch takes so long that the device idles for the share `idle` of the time. Events have the
// times of an otherwise idle machine; the thread sleeps meanwhile. Returns when the last kernel has
// ended.
inline void LaunchKernels(uint16_t device, Seconds work, double idle) {
  EventLog* const log = EventLog::OfProcess();
  const auto launch = static_cast<int64_t>(static_cast<double>(kKernel) / (1 - idle));
  const auto count =
      std::max<int64_t>(1, std::llround(work.count() * 1e9 / static_cast<double>(kKernel)));
  const uint32_t name = log == nullptr ? 0 : log->Name("cudaLaunchKernel");
  const int64_t begin = EventLog::Now();
  const int64_t end = begin + count * launch + kKernel;
  for (int64_t i = 0; log != nullptr && i < count; ++i) {
    const int64_t launched = begin + (i + 1) * launch;
    log->Write({.kind = EventKind::kHost,
                .device = device,
                .lane = EventLog::ThreadLane(),
                .name = name,
                .begin = launched - launch,
                .end = launched});
    log->Write({.kind = EventKind::kDevice,
                .device = device,
                .begin = launched,
                .end = launched + kKernel});
  }
  const int64_t left = end - EventLog::Now();
  if (left > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left));
}

}  // namespace recpack::bench

// Monotonic clock, and timeouts that tolerate a process being stopped (SIGSTOP) while it waits.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace recpack {

// Returns CLOCK_MONOTONIC in nanoseconds. Thread-safe and async-signal-safe.
uint64_t MonotonicNow() noexcept;

// Returns the time `timeout` from now. Clamps very long timeouts, such as milliseconds::max(), to
// 200 years.
inline std::chrono::steady_clock::time_point DeadlineAfter(std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kCenturies = std::chrono::hours(24 * 365 * 200);
  return std::chrono::steady_clock::now() + std::min(timeout, kCenturies);
}

// Tells whether a wait until `deadline` returned so late that the process must have been stopped
// (SIGSTOP, a suspended job or container). Its peers were probably stopped too, so the caller
// should wait once more.
inline bool Overslept(std::chrono::steady_clock::time_point deadline) noexcept {
  return std::chrono::steady_clock::now() > deadline + std::chrono::seconds(1);
}

// Waits until `over()` returns true. Returns false after `timeout`, not counting time in which the
// process was stopped.
template <typename Condition, typename Lock, typename Over>
bool WaitPatiently(Condition& changed, Lock& lock, std::chrono::milliseconds timeout,
                   const Over& over) {
  for (;;) {
    const auto deadline = DeadlineAfter(timeout);
    if (changed.wait_until(lock, deadline, over)) return true;
    if (!Overslept(deadline)) return false;
  }
}

}  // namespace recpack

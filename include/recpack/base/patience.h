// Limits of waits, in processes that may be stopped meanwhile.
#pragma once

#include <algorithm>
#include <chrono>

namespace recpack {

// That long from now; no limit at all, as milliseconds::max(), is centuries.
inline std::chrono::steady_clock::time_point DeadlineAfter(std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kCenturies = std::chrono::hours(24 * 365 * 200);
  return std::chrono::steady_clock::now() + std::min(timeout, kCenturies);
}

// Whether a wait up to `deadline` has ended so long after it that the process was stopped (SIGSTOP,
// a job or a container that is suspended): so were those that it waits for, and they get their time
// once more.
inline bool Overslept(std::chrono::steady_clock::time_point deadline) noexcept {
  return std::chrono::steady_clock::now() > deadline + std::chrono::seconds(1);
}

// Waits until `over()` holds; false: it took longer than `timeout`, in which the process ran.
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

// Limits of waits, in processes that may be stopped meanwhile.
#pragma once

#include <chrono>

namespace recpack {

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
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    if (changed.wait_until(lock, deadline, over)) return true;
    if (!Overslept(deadline)) return false;
  }
}

}  // namespace recpack

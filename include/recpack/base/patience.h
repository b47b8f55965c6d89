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

}  // namespace recpack

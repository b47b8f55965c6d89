// Spends time on a processor, or asleep.
#pragma once

#include <time.h>

#include <chrono>
#include <thread>

namespace recpack::bench {

using Seconds = std::chrono::duration<double>;

inline Seconds ThreadCpu() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return Seconds(static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9);
}

// Uses that much CPU time, which takes longer if the processor is shared.
inline void Burn(Seconds time) {
  const Seconds end = ThreadCpu() + time;
  while (ThreadCpu() < end) {
  }
}

inline void Sleep(Seconds time) { std::this_thread::sleep_for(time); }

}  // namespace recpack::bench

#include "recpack/base/clock.h"

#include <time.h>

namespace recpack {

uint64_t MonotonicNow() noexcept {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace recpack

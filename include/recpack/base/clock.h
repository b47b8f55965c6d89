// The clock that all times between processes of one machine are of.
#pragma once

#include <cstdint>

namespace recpack {

// CLOCK_MONOTONIC in nanoseconds. Any thread, and signal handlers.
uint64_t MonotonicNow() noexcept;

}  // namespace recpack

// Timing loop shared by all measurements.
#pragma once

#include <functional>

#include "src/ceiling/ceiling.h"

namespace recpack::ceiling {

// Work of one thread: does a small amount of work and returns that amount.
using Work = std::function<double()>;

// Calls make(thread) on each thread, then runs the work of all threads at once for options.time. An
// Error on any thread makes the rate unavailable.
Rate Timed(const CeilingOptions& options, const std::function<Work(size_t thread)>& make);

}  // namespace recpack::ceiling

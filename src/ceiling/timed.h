// The loop of every measurement.
#pragma once

#include <functional>

#include "src/ceiling/ceiling.h"

namespace recpack::ceiling {

// One thread's work: does a little and returns how much that was.
using Work = std::function<double()>;

// Makes the work of each thread by make(thread) on it, then lets all work at once until the time is
// over. An Error on any thread makes the rate unavailable.
Rate Timed(const CeilingOptions& options, const std::function<Work(size_t thread)>& make);

}  // namespace recpack::ceiling

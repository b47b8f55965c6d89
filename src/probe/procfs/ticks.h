// The kernel's ticks.
#pragma once

#include <unistd.h>

#include <cstdint>

#include "src/probe/procfs/system_sample.h"

namespace recpack::probe {

inline uint64_t TicksToNs(uint64_t ticks) noexcept {
  static const uint64_t ns = 1'000'000'000 / static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  return ticks * ns;
}

inline Counter TicksToNs(const Counter& ticks) noexcept {
  return ticks ? Counter(TicksToNs(*ticks)) : ticks;
}

}  // namespace recpack::probe

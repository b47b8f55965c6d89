// How much I/O held a training up.
#pragma once

#include "src/probe/procfs/system_rates.h"

namespace recpack::probe {

struct IoPressure {
  double share = 0;  // of the time, in which some task waited for it
  const char* of = "";
};

// Of the machine's tasks others may be held up that have no part in it.
inline IoPressure IoPressureOf(const SystemRates& system) {
  if (const auto& own = system.cgroup_pressure.io.some) return {*own, "of its control group"};
  return {system.pressure.io.some.value_or(0), "of the machine"};
}

}  // namespace recpack::probe

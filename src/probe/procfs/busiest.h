// Selects the busiest threads and processes for a report.
#pragma once

#include <cstddef>
#include <vector>

#include "src/probe/procfs/system_rates.h"

namespace recpack::probe {

// Returns at most `most` threads, sorted by the time in which they ran or waited for a processor or
// a disk, longest first. Leaves out those with less than a thousandth of the time.
std::vector<ThreadRates> BusiestThreads(const SystemRates& system, size_t most);

// Returns at most `most` processes, sorted by CPU time, longest first. Leaves out those that used
// less than a thousandth of a processor and moved no bytes.
std::vector<ProcessRates> BusiestProcesses(const SystemRates& system, size_t most);

}  // namespace recpack::probe

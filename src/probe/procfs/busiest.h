// Of many threads and processes those that a report shows.
#pragma once

#include <cstddef>
#include <vector>

#include "src/probe/procfs/system_rates.h"

namespace recpack::probe {

// The `most` that ran, or waited for a processor or for a disk, longest; of these none that did
// neither in a thousandth of the time. The longest first.
std::vector<ThreadRates> BusiestThreads(const SystemRates& system, size_t most);

// The `most` that ran longest; of these none that hardly ran and moved no bytes. The longest first.
std::vector<ProcessRates> BusiestProcesses(const SystemRates& system, size_t most);

}  // namespace recpack::probe

// What ended while somebody watched.
#pragma once

#include <cstddef>
#include <vector>

#include "src/probe/procfs/system_sample.h"

namespace recpack::probe {

// samples[last], and with it the processes and threads that ended since samples[first], as they
// were seen last: what they did by then counts between the two.
SystemSample WithEnded(const std::vector<SystemSample>& samples, size_t first, size_t last);

}  // namespace recpack::probe

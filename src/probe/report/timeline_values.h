// Converts samples to values of a timeline.
#pragma once

#include <vector>

#include "src/probe/evidence/evidence.h"
#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/procfs/system_rates.h"
#include "src/probe/report/timeline.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Appends groups "cpu", "cores", "pressure", "disks", "network", "memory" and "limits".
// `tree_seen`: whether the program's processes are visible; without them its share and that of
// others is unknown.
void AppendValues(const SystemRates& rates, bool tree_seen, std::vector<TimelineValue>& values);

// Appends current values of the groups "memory" and "limits" (of the program's control group).
void AppendValues(const SystemSample& sample, std::vector<TimelineValue>& values);

// Appends the group "devices" for "GPU N". Unavailable values are left out.
void AppendValues(const GpuSample& sample, std::vector<TimelineValue>& values);

// Appends the groups "loader" and "stages" (shares of the workers' time) of one loader between two
// samples.
void AppendValues(const LoaderSample& first, const LoaderSample& second,
                  std::vector<TimelineValue>& values);

// Returns the sample without processes and threads.
SystemSample WithoutProcesses(const SystemSample& sample);

}  // namespace recpack::probe

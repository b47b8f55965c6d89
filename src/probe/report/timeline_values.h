// Samples as figures of a timeline.
#pragma once

#include <vector>

#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/procfs/system_rates.h"
#include "src/probe/report/timeline.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Groups "cpu", "cores", "pressure", "disks", "network", "memory", "limits". Where the program's
// processes are not seen neither their part is known, nor by it that of others.
void AppendValues(const SystemRates& rates, bool tree_seen, std::vector<TimelineValue>& values);

// What is so at one time, of "memory" and of "limits": those of the group that the program is in.
void AppendValues(const SystemSample& sample, std::vector<TimelineValue>& values);

// Group "devices", of "GPU N". What is unavailable is missing.
void AppendValues(const GpuSample& sample, std::vector<TimelineValue>& values);

// Of one loader between two samples: groups "loader" and, as shares of the workers' time, "stages".
void AppendValues(const LoaderSample& first, const LoaderSample& second,
                  std::vector<TimelineValue>& values);

// The sample without processes and threads: what the machine's figures need.
SystemSample MachineOf(const SystemSample& sample);

}  // namespace recpack::probe

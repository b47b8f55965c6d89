// Finds memory of training processes that grows with each step.
#pragma once

#include <cstdint>
#include <vector>

#include "src/probe/procfs/system_sample.h"
#include "src/probe/steps/steps.h"
#include "src/probe/util/estimate.h"

namespace recpack::probe {

// Growth of the memory that a process has to itself (without files and shared memory).
struct MemoryGrowth {
  int process = 0;
  Estimate bytes_per_step;
  double since_s = 0;    // seconds from the first step to where the growth begins
  uint64_t grown = 0;    // bytes, since then
  uint64_t now = 0;      // bytes
  double full_in_s = 0;  // seconds until the machine or the control group has none left; 0: unknown
};

// Looks at the second half of each trainer's steps, in eight parts of equal time: the memory grows
// if it does so in nearly all of them, with an interval of the growth (Student's t) above 0, and by
// at least 16 MiB and 2 % in all. What is allocated once, and what is freed from time to time, is
// no growth. `samples`: in order of time. Processes with fewer than 64 steps or 16 samples in that
// half are left out.
std::vector<MemoryGrowth> FindMemoryGrowth(const std::vector<SystemSample>& samples,
                                           const std::vector<TrainerSteps>& trainers);

}  // namespace recpack::probe

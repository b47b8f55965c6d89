// Collectives whose ranks are threads of several processes.
#pragma once

#include <memory>
#include <vector>

#include "src/train/collectives/collective.h"

namespace recpack::train {

// Ranks are `counts[p]` threads of each process p, numbered process by process; returns those of
// this process. `processes` is this process's member among all processes; the first thread uses it,
// and no other call on it may be in progress. Sums are made within each process first, in rank
// order, then over processes in their order: ((x0 + x1) + (x2 + x3)) with two threads each. With
// one thread per process, the bits equal those of any other collective.
std::vector<std::unique_ptr<Collective>> TowerCollectives(std::shared_ptr<Collective> processes,
                                                          const std::vector<int>& counts);

}  // namespace recpack::train

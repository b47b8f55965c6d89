// Ranks that are threads of several processes.
#pragma once

#include <memory>
#include <vector>

#include "src/train/collectives/collective.h"

namespace recpack::train {

// Of `counts[p]` threads of each process p, numbered process by process: the parts of this one's.
// `processes` is this process's part among all of them; the thread that comes first uses it, and
// what is at it otherwise must be over. Sums are made in each process first, in the order of its
// ranks, then over processes in theirs: ((x0 + x1) + (x2 + x3)) of two each. So with one thread
// each they are the bits of any other collective.
std::vector<std::unique_ptr<Collective>> TowerCollectives(std::shared_ptr<Collective> processes,
                                                          const std::vector<int>& counts);

}  // namespace recpack::train

// Steps of programs that tell of none, by their loaders' own accounts.
#pragma once

#include <vector>

#include "src/probe/evidence/evidence.h"

namespace recpack::probe {

// Of the loader that WorkOf() names: a step is a batch that it gave. Between two samples batches
// are taken to come and to be waited for evenly. Empty where too few were seen.
std::vector<TrainerSteps> StepsOfLoaders(const std::vector<LoaderSample>& samples);

}  // namespace recpack::probe

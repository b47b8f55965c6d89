// Measures the ceilings of a loader's stages in samples per second.
#pragma once

#include <array>

#include "src/ceiling/ceiling.h"
#include "tools/recpack/bench_run.h"

namespace recpack::tool {

// Returns the ceilings by stage, measured now on the files and pictures of the data set, with as
// many threads as the run had.
std::array<ceiling::Rate, kStages> MeasureCeilings(const Dataset& dataset, const BenchRun& run);

}  // namespace recpack::tool

// The ceilings of a loader's stages, in samples a second.
#pragma once

#include <array>

#include "src/ceiling/ceiling.h"
#include "tools/recpack/bench_run.h"

namespace recpack::tool {

// By stage. Measured now, on the data set's own files and pictures, with as many threads as the
// run had.
std::array<ceiling::Rate, kStages> CeilingsOf(const Dataset& dataset, const BenchRun& run);

}  // namespace recpack::tool

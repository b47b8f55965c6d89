// What a loader would do with another number of threads.
#pragma once

#include "tools/recpack/bench_run.h"
#include "tools/recpack/bench_scaling.h"

namespace recpack::tool {

// Samples a second with `threads` threads, by what a sample cost in `run`: each thread works and
// waits for input on its own, at the speed that is left to each; one consumer takes all; all
// together have no more than the cores. With the run's own number it is what the run was.
double Predict(const BenchRun& run, int threads, const Scaling& scaling);

}  // namespace recpack::tool

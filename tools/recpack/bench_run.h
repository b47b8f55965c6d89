// What a loader does on this machine, and what it would do with other numbers of threads.
#pragma once

#include <array>
#include <chrono>

#include "recpack/pipeline/loader.h"

namespace recpack::tool {

// One run, after a warm-up, with a consumer that does nothing.
struct BenchRun {
  int threads = 0;
  double seconds = 0;
  double samples = 0;
  std::array<StageStats, kStages> stages;  // of all workers, within the run
  double consumer_seconds = 0;             // that the consumer did not wait for a batch
  double sample_bytes = 0;                 // of a batch's arrays

  double per_second() const { return samples / seconds; }
  const StageStats& stage(Stage stage) const { return stages[static_cast<size_t>(stage)]; }
  // Share of the workers' time.
  double Busy(Stage stage) const;
  // Seconds a sample of one worker.
  double Cost(Stage stage) const;
};

BenchRun RunLoader(const Mixture& samples, const LoaderOptions& options,
                   std::chrono::duration<double> time);

// The stage that most of the workers' time goes to; "consumer" where they mostly wait for room.
const char* LimitedBy(const BenchRun& run);

// Samples a second with `threads` threads on `cores` cores, by what a sample cost in `run`: each
// thread works and waits for input on its own, one consumer takes all, and all together have no
// more than the cores.
double Predict(const BenchRun& run, int threads, int cores);

}  // namespace recpack::tool

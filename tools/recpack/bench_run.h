// Measures the throughput of a loader.
#pragma once

#include <array>
#include <chrono>

#include "recpack/loader/loader.h"
#include "src/ceiling/predict.h"

namespace recpack::tool {

// Measurements of one span, with a consumer that does nothing.
struct BenchRun {
  int threads = 0;
  double seconds = 0;
  double samples = 0;
  std::array<StageStats, kStages> stages;  // summed over workers
  double consumer_seconds = 0;             // time in which the consumer did not wait for a batch
  double sample_bytes = 0;                 // per sample in the arrays of a batch
  uint64_t cache_budget = 0;               // 0: no cache
  CacheStats cache;                        // from the warm-up to the end of all spans

  double per_second() const { return samples / seconds; }
  const StageStats& stage(Stage stage) const { return stages[static_cast<size_t>(stage)]; }
  // Share of the workers' time spent in the stage.
  double Busy(Stage stage) const;
  // Worker seconds per sample in the stage.
  double Cost(Stage stage) const;
};

// After a warm-up that uses every slab once, runs three spans that take `time` together, and
// returns the one with the median throughput, since other processes may disturb a span.
BenchRun RunLoader(const Mixture& samples, const LoaderOptions& options,
                   std::chrono::duration<double> time);

// Costs of the run, with a consumer that only takes the batches.
ceiling::LoaderCost ToLoaderCost(const BenchRun& run);

// Name of the stage with the largest share of the workers' time; "consumer" if they mostly wait for
// a free slab.
const char* LimitedBy(const BenchRun& run);

}  // namespace recpack::tool

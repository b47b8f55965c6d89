// What a loader does on this machine.
#pragma once

#include <array>
#include <chrono>

#include "recpack/loader/loader.h"
#include "src/ceiling/predict.h"

namespace recpack::tool {

// One span of a run, with a consumer that does nothing.
struct BenchRun {
  int threads = 0;
  double seconds = 0;
  double samples = 0;
  std::array<StageStats, kStages> stages;  // of all workers
  double consumer_seconds = 0;             // that the consumer did not wait for a batch
  double sample_bytes = 0;                 // of a batch's arrays
  uint64_t cache_budget = 0;               // 0: no cache
  CacheStats cache;                        // at the end of all spans, from the warm-up on

  double per_second() const { return samples / seconds; }
  const StageStats& stage(Stage stage) const { return stages[static_cast<size_t>(stage)]; }
  // Share of the workers' time.
  double Busy(Stage stage) const;
  // Seconds a sample of one worker.
  double Cost(Stage stage) const;
};

// After a warm-up, in which all slabs are used once, the middle one of three spans by samples a
// second: others may have had the machine for a while. They take `time` together.
BenchRun RunLoader(const Mixture& samples, const LoaderOptions& options,
                   std::chrono::duration<double> time);

// Its consumer does nothing but take the batches.
ceiling::LoaderCost CostOf(const BenchRun& run);

// The stage that most of the workers' time goes to; "consumer" where they mostly wait for room.
const char* LimitedBy(const BenchRun& run);

}  // namespace recpack::tool

#include "tools/recpack/bench_predict.h"

#include <algorithm>

namespace recpack::tool {
namespace {

// Seconds of a sample by what they depend on.
struct Cost {
  double compute = 0;
  double memory = 0;  // that one thread alone needs to move the bytes
  double input = 0;   // waiting for it
  double consumer = 0;

  double work() const { return compute + memory; }
};

// More threads than cores take turns, and so the clock runs on for those that wait for theirs.
double Turns(int threads, int cores) { return std::max(1.0, static_cast<double>(threads) / cores); }

Cost CostOf(const BenchRun& run, const Scaling& scaling) {
  Cost cost{.input = run.Cost(Stage::kInput), .consumer = run.consumer_seconds / run.samples};
  double work = 0;
  for (const Stage stage : {Stage::kPlan, Stage::kRead, Stage::kParse, Stage::kDecode,
                            Stage::kAugment, Stage::kFunction, Stage::kBatch, Stage::kWrite}) {
    work += run.Cost(stage);
  }
  work /= Turns(run.threads, scaling.cores());
  const double bytes =
      run.sample_bytes + static_cast<double>(run.stage(Stage::kRead).bytes) / run.samples;
  cost.memory = std::min(work, bytes / scaling.bytes_per_second());
  cost.compute = work - cost.memory;
  return cost;
}

// Threads are in each other's way with memory only while several want it: by the share of their
// time in which they do.
double MemorySlowdown(const Slowdown& at, double share) {
  return at.compute * (1 + share * std::max(0.0, at.memory / at.compute - 1));
}

double Model(const Cost& cost, int threads, int cores) {
  const double each = threads / (cost.work() * Turns(threads, cores) + cost.input);
  const double all = cores / (cost.work() + cost.consumer);
  return std::min({each, all, 1 / cost.consumer});
}

}  // namespace

double Predict(const BenchRun& run, int threads, const Scaling& scaling) {
  const Cost measured = CostOf(run, scaling);
  const Slowdown from = scaling.At(run.threads), to = scaling.At(threads);
  const double share = measured.memory / measured.work();
  Cost expected = measured;
  expected.compute *= to.compute / from.compute;
  expected.memory *= MemorySlowdown(to, share) / MemorySlowdown(from, share);
  // Handing over and waking up, which no stage counts, stay in proportion.
  const double model = Model(measured, run.threads, scaling.cores());
  return run.per_second() * Model(expected, threads, scaling.cores()) / model;
}

}  // namespace recpack::tool

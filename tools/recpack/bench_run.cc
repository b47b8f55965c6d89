#include "tools/recpack/bench_run.h"

#include <algorithm>

namespace recpack::tool {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kWarmUp = 0.25;  // share of the run's time
constexpr size_t kSpans = 3;
constexpr double kMostlyWaiting = 0.5;

double InSeconds(std::chrono::nanoseconds time) { return Seconds(time).count(); }

// Returns the number of samples in the next batch, across ends of epochs.
double Take(Loader& loader) {
  for (;;) {
    if (const auto batch = loader.Next()) return batch->size();
  }
}

// Takes batches until the time is over, at least `batches`. Returns the number of samples.
double Drain(Loader& loader, Seconds time, uint32_t batches) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
  double samples = 0;
  for (uint32_t i = 0; i < batches || Clock::now() < end; ++i) samples += Take(loader);
  return samples;
}

BenchRun RunSpan(Loader& loader, Seconds time) {
  BenchRun run;
  run.threads = loader.options().threads;
  for (const ArraySpec& array : loader.arrays()) {
    run.sample_bytes += static_cast<double>(array.sample_bytes);
  }
  const LoaderStats before = loader.stats();
  const auto begin = Clock::now();
  run.samples = Drain(loader, time, 1);
  const LoaderStats after = loader.stats();
  run.seconds = Seconds(Clock::now() - begin).count();
  run.consumer_seconds =
      std::max(0.0, run.seconds - InSeconds(after.consumer_wait - before.consumer_wait));
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    const StageStats first = before.Total(stage), last = after.Total(stage);
    run.stages[i] = {last.count - first.count, last.bytes - first.bytes,
                     std::max(last.time - first.time, std::chrono::nanoseconds(0))};
  }
  return run;
}

}  // namespace

double BenchRun::Busy(Stage which) const {
  return InSeconds(stage(which).time) / (seconds * threads);
}

double BenchRun::Cost(Stage which) const { return InSeconds(stage(which).time) / samples; }

BenchRun RunLoader(const Mixture& samples, const LoaderOptions& options, Seconds time) {
  Loader loader(samples, options);
  Drain(loader, time * kWarmUp, loader.options().prefetch + 1);
  std::array<BenchRun, kSpans> spans;
  for (BenchRun& span : spans) span = RunSpan(loader, time / kSpans);
  std::ranges::sort(spans, {}, &BenchRun::per_second);
  BenchRun& run = spans[kSpans / 2];
  run.cache_budget = options.cache.budget_bytes;
  run.cache = loader.cache_stats();
  return run;
}

ceiling::LoaderCost ToLoaderCost(const BenchRun& run) {
  ceiling::LoaderCost cost{.threads = run.threads,
                           .per_second = run.per_second(),
                           .input = run.Cost(Stage::kInput),
                           .consumer = run.consumer_seconds / run.samples,
                           .consumer_cpu = run.consumer_seconds / run.samples};
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (IsWork(stage)) cost.work += run.Cost(stage);
  }
  cost.bytes = run.sample_bytes + static_cast<double>(run.stage(Stage::kRead).bytes) / run.samples;
  return cost;
}

const char* LimitedBy(const BenchRun& run) {
  if (run.Busy(Stage::kRoom) > kMostlyWaiting) return "consumer";
  Stage most = Stage::kInput;
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (stage != Stage::kRoom && run.Busy(stage) > run.Busy(most)) most = stage;
  }
  return StageName(most);
}

}  // namespace recpack::tool

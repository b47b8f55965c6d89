#include "tools/recpack/bench_run.h"

#include <algorithm>

namespace recpack::tool {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kWarmUp = 0.25;  // of the run's time
constexpr double kMostlyWaiting = 0.5;

double InSeconds(std::chrono::nanoseconds time) { return Seconds(time).count(); }

// Samples given until the time is over.
double Drain(Loader& loader, Seconds time) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
  double samples = 0;
  do {
    if (const auto batch = loader.Next()) samples += batch->size();
  } while (Clock::now() < end);
  return samples;
}

}  // namespace

double BenchRun::Busy(Stage which) const {
  return InSeconds(stage(which).time) / (seconds * threads);
}

double BenchRun::Cost(Stage which) const { return InSeconds(stage(which).time) / samples; }

BenchRun RunLoader(const Mixture& samples, const LoaderOptions& options, Seconds time) {
  Loader loader(samples, options);
  Drain(loader, time * kWarmUp);
  BenchRun run;
  run.threads = loader.options().threads;
  for (const ArraySpec& array : loader.arrays()) {
    run.sample_bytes += static_cast<double>(array.sample_bytes);
  }
  const LoaderStats before = loader.stats();
  const auto begin = Clock::now();
  run.samples = Drain(loader, time);
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

const char* LimitedBy(const BenchRun& run) {
  if (run.Busy(Stage::kRoom) > kMostlyWaiting) return "consumer";
  Stage most = Stage::kInput;
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (stage != Stage::kRoom && run.Busy(stage) > run.Busy(most)) most = stage;
  }
  return StageName(most);
}

double Predict(const BenchRun& run, int threads, int cores) {
  double work = 0;
  for (size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (stage != Stage::kRoom && stage != Stage::kInput) work += run.Cost(stage);
  }
  const double consumer = run.consumer_seconds / run.samples;
  return std::min(
      {threads / (work + run.Cost(Stage::kInput)), 1 / consumer, cores / (work + consumer)});
}

}  // namespace recpack::tool

#include "src/ceiling/predict.h"

#include <algorithm>
#include <limits>

namespace recpack::ceiling {
namespace {

// Seconds per sample, split by resource.
struct Parts {
  double compute = 0;
  double memory = 0;  // time of one thread alone to move the bytes
  double input = 0;
  double consumer = 0;
  double consumer_cpu = 0;

  double work() const { return compute + memory; }
};

// Returns the slowdown by time sharing if there are more threads than cores.
double Turns(int threads, int cores) { return std::max(1.0, static_cast<double>(threads) / cores); }

Parts SplitCost(const LoaderCost& cost, const Scaling& scaling) {
  const double work = cost.work / Turns(cost.threads, scaling.cores());
  const double memory = std::min(work, cost.bytes / scaling.bytes_per_second());
  return {.compute = work - memory,
          .memory = memory,
          .input = cost.input,
          .consumer = cost.consumer,
          .consumer_cpu = cost.consumer_cpu};
}

// Threads contend for memory only while several use it: weights the slowdown by the fraction of
// their time in which they do.
double MemorySlowdown(const Slowdown& at, double share) {
  return at.compute * (1 + share * std::max(0.0, at.memory / at.compute - 1));
}

double PerSecond(double count, double seconds) {
  return seconds > 0 ? count / seconds : std::numeric_limits<double>::infinity();
}

// `threads`: per copy.
double Model(const Parts& parts, int threads, int copies, int cores) {
  const int all_threads = threads * copies;
  const double each =
      PerSecond(all_threads, parts.work() * Turns(all_threads, cores) + parts.input);
  const double all = PerSecond(cores, parts.work() + parts.consumer_cpu);
  return std::min({each, all, PerSecond(copies, parts.consumer)});
}

}  // namespace

double Predict(const LoaderCost& cost, const LoaderChange& change, const Scaling& scaling) {
  const Parts measured = SplitCost(cost, scaling);
  const int threads = change.threads > 0 ? change.threads : cost.threads;
  const Slowdown from = scaling.At(cost.threads), to = scaling.At(threads * change.copies);
  const double share = measured.work() > 0 ? measured.memory / measured.work() : 0;
  Parts expected = measured;
  expected.compute *= change.work * to.compute / from.compute;
  expected.memory *= change.work * MemorySlowdown(to, share) / MemorySlowdown(from, share);
  expected.input *= change.input;
  if (change.alone) expected.consumer = expected.consumer_cpu = 0;
  const double model = Model(measured, cost.threads, 1, scaling.cores());
  const double seen = cost.per_second / model;
  const double predicted = seen * Model(expected, threads, change.copies, scaling.cores());
  if (change.read_ceiling <= 0 || change.bytes <= 0) return predicted;
  return std::min(predicted, change.read_ceiling / change.bytes);
}

}  // namespace recpack::ceiling

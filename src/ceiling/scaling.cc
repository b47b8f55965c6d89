#include "src/ceiling/scaling.h"

#include <algorithm>

#include "src/ceiling/ceiling.h"

namespace recpack::ceiling {
namespace {

// Takes the best of this many rounds, since other processes can only slow down a measurement.
constexpr int kRounds = 4;
constexpr std::chrono::milliseconds kTime(50);

double Best(Rate (*ceiling)(const CeilingOptions&), int threads, size_t memory) {
  double best = 0;
  for (int i = 0; i < kRounds; ++i) {
    best =
        std::max(best, ceiling({.threads = threads, .time = kTime, .memory = memory}).per_second);
  }
  return best / threads;
}

}  // namespace

Scaling Scaling::Measure(int cores, size_t most_memory) {
  std::vector<Slowdown> points;
  double compute = 0, memory = 0;  // rates of one thread alone
  for (int threads = 1;; threads = std::min(2 * threads, cores)) {
    const double computed = Best(ComputeCeiling, threads, most_memory);
    const double stored = Best(StoreCeiling, threads, most_memory);
    if (threads == 1) compute = computed, memory = stored;
    points.push_back({.threads = threads,
                      .compute = std::max(1.0, compute / computed),
                      .memory = std::max(1.0, memory / stored)});
    if (threads >= cores) return {std::move(points), memory};
  }
}

Slowdown Scaling::At(int threads) const {
  if (threads >= cores()) return points_.back();
  const auto above =
      std::ranges::find_if(points_, [&](const Slowdown& at) { return at.threads > threads; });
  const Slowdown &low = *(above - 1), &high = *above;
  const double part = static_cast<double>(threads - low.threads) / (high.threads - low.threads);
  return {threads, low.compute + part * (high.compute - low.compute),
          low.memory + part * (high.memory - low.memory)};
}

}  // namespace recpack::ceiling

// Scaling of this machine: slowdown of threads by contention.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "src/ceiling/ceiling.h"

namespace recpack::ceiling {

// Factor by which work takes longer on each of several threads than on one alone, since cores share
// execution units, power and memory.
struct Slowdown {
  int threads = 1;
  double compute = 1;  // for work without memory access
  double memory = 1;   // for stores to memory beyond the caches
};

class Scaling {
 public:
  // `points`: at least one, in ascending order of threads, from 1 to the number of cores.
  // `bytes_per_second`: memory stores of one thread alone.
  Scaling(std::vector<Slowdown> points, double bytes_per_second)
      : points_(std::move(points)), bytes_per_second_(bytes_per_second) {}

  // Measures at 1, 2, 4, ... threads and at `cores`, for half a second each.
  static Scaling Measure(int cores, size_t memory = CeilingOptions::kMemory);

  int cores() const { return points_.back().threads; }
  const std::vector<Slowdown>& points() const { return points_; }
  double bytes_per_second() const { return bytes_per_second_; }
  // Interpolates between points; returns the last one beyond them.
  Slowdown At(int threads) const;

 private:
  std::vector<Slowdown> points_;
  double bytes_per_second_;
};

}  // namespace recpack::ceiling

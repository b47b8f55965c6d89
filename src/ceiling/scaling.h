// What threads take from each other on this machine.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "src/ceiling/ceiling.h"

namespace recpack::ceiling {

// How many times as long work takes on each of some threads as on one alone: cores that share
// units, power or memory are slower together.
struct Slowdown {
  int threads = 1;
  double compute = 1;  // of work that wants no memory
  double memory = 1;   // of storing to what no cache holds
};

class Scaling {
 public:
  // `points`: by rising numbers of threads, from 1 to the cores; at least one. `bytes_per_second`:
  // that one thread alone stores to memory.
  Scaling(std::vector<Slowdown> points, double bytes_per_second)
      : points_(std::move(points)), bytes_per_second_(bytes_per_second) {}

  // Measured now, at 1, 2, 4 ... threads and at `cores`: half a second for each.
  static Scaling Measure(int cores, size_t memory = CeilingOptions::kMemory);

  int cores() const { return points_.back().threads; }
  const std::vector<Slowdown>& points() const { return points_; }
  double bytes_per_second() const { return bytes_per_second_; }
  // Between points by interpolation; behind the last one, that of the last.
  Slowdown At(int threads) const;

 private:
  std::vector<Slowdown> points_;
  double bytes_per_second_;
};

}  // namespace recpack::ceiling

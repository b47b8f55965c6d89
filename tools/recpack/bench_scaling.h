// What threads take from each other on this machine.
#pragma once

#include <utility>
#include <vector>

namespace recpack::tool {

// How many times as long work takes on each of some threads as on one alone: cores that share
// units, power or memory are slower together.
struct Slowdown {
  int threads = 1;
  double compute = 1;  // of work that wants no memory
  double memory = 1;   // of copying what no cache holds
};

class Scaling {
 public:
  // `points`: by rising numbers of threads, from 1 to the cores; at least one.
  explicit Scaling(std::vector<Slowdown> points) : points_(std::move(points)) {}

  // Measured now, at 1, 2, 4 ... threads and at `cores`: half a second for each.
  static Scaling Measure(int cores);

  int cores() const { return points_.back().threads; }
  const std::vector<Slowdown>& points() const { return points_; }
  // Between points by interpolation; behind the last one, that of the last.
  Slowdown At(int threads) const;

 private:
  std::vector<Slowdown> points_;
};

}  // namespace recpack::tool

// Estimates from paired rounds: in each round, every kind of run is measured once.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "src/probe/util/estimate.h"

namespace recpack::probe {

// By round, the measurement of each kind, for instance seconds per step. All rounds have the same
// kinds.
using Rounds = std::vector<std::vector<double>>;

// A smooth function of the kinds' means: a rate, a difference or a ratio of rates.
using FigureOfMeans = std::function<double(const std::vector<double>& means)>;

inline constexpr size_t kFewestRounds = 3;

// Returns the figure of the means over all rounds, with its 95 % interval. The standard error comes
// from the delta method (Oehlert, "A note on the delta method", 1992), with the correction of Newey
// and West (1987) for correlated neighbouring rounds, but never below that of independent rounds.
// The interval uses Student's t with one degree of freedom less than rounds. It is infinite for
// fewer than kFewestRounds.
Estimate EstimateFigure(const Rounds& rounds, const FigureOfMeans& figure);

}  // namespace recpack::probe

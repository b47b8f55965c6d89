// What several kinds of something took, each once a round, and what one of them gains.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "src/probe/util/estimate.h"

namespace recpack::probe {

// By round, what each kind took (seconds a step, say); all rounds have the same kinds.
using Rounds = std::vector<std::vector<double>>;

// A smooth figure of the kinds' means: a rate, a difference or a ratio of rates.
using FigureOfMeans = std::function<double(const std::vector<double>& means)>;

inline constexpr size_t kFewestRounds = 3;

// The figure of the means over all rounds, with its interval. Its error is that of the rounds, each
// weighted by how much it moves the figure (delta method: Oehlert, "A note on the delta method",
// 1992), where neighbouring rounds may depend on each other (Newey and West, 1987; never below what
// independent ones would give), by Student's t with one degree of freedom less than there are
// rounds. Fewer than kFewestRounds: an interval without ends.
Estimate EstimateOf(const Rounds& rounds, const FigureOfMeans& figure);

}  // namespace recpack::probe

// Beta-distributed random numbers, bit for bit the same on every machine.
#pragma once

#include "recpack/base/random.h"

namespace recpack {

// Draws from Beta(alpha, alpha), alpha > 0: from two gamma variates by Marsaglia and Tsang ("A
// simple method for generating gamma variables", 2000), in logarithms so that small alphas do not
// underflow.
double DrawBeta(double alpha, KeyedRandom& random);

}  // namespace recpack

#include "src/loader/image/beta.h"

#include <algorithm>
#include <cmath>

#include "src/loader/image/portable_math.h"

namespace recpack {
namespace {

// Uniform in (0, 1), with 53 bits.
double DrawUnit(KeyedRandom& random) {
  return static_cast<double>(random.NextU64() >> 11) * 0x1p-53 + 0x1p-54;
}

// Marsaglia's polar method.
double DrawNormal(KeyedRandom& random) {
  for (;;) {
    const double u = 2 * DrawUnit(random) - 1;
    const double v = 2 * DrawUnit(random) - 1;
    const double square = u * u + v * v;
    if (square > 0 && square < 1) return u * std::sqrt(-2 * PortableLog(square) / square);
  }
}

double DrawLogGamma(double alpha, KeyedRandom& random) {
  const double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = DrawNormal(random);
    const double root = 1 + c * x;
    const double unit = DrawUnit(random);
    if (root <= 0) continue;
    const double log_v = 3 * PortableLog(root);
    const double v = root * root * root;
    if (PortableLog(unit) >= x * x / 2 + d - d * v + d * log_v) continue;
    const double boost = alpha < 1 ? PortableLog(DrawUnit(random)) / alpha : 0;
    return PortableLog(d) + log_v + boost;
  }
}

}  // namespace

double DrawBeta(double alpha, KeyedRandom& random) {
  const double first = DrawLogGamma(alpha, random);
  const double second = DrawLogGamma(alpha, random);
  return 1 / (1 + PortableExp(std::clamp(second - first, -690.0, 690.0)));
}

}  // namespace recpack

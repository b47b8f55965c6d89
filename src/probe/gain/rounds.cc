#include "src/probe/gain/rounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/probe/util/estimate.h"

namespace recpack::probe {
namespace {

constexpr double kStep = 1e-4;  // of a mean, for numerical differentiation

std::vector<double> Means(const Rounds& rounds) {
  std::vector<double> means(rounds.front().size());
  for (const auto& round : rounds) {
    for (size_t i = 0; i < means.size(); ++i) means[i] += round[i];
  }
  for (double& mean : means) mean /= static_cast<double>(rounds.size());
  return means;
}

std::vector<double> Slopes(const std::vector<double>& means, const FigureOfMeans& figure) {
  std::vector<double> slopes;
  slopes.reserve(means.size());
  for (size_t i = 0; i < means.size(); ++i) {
    std::vector<double> up = means, down = means;
    const double step = kStep * means[i];
    up[i] += step;
    down[i] -= step;
    slopes.push_back(step > 0 ? (figure(up) - figure(down)) / (2 * step) : 0);
  }
  return slopes;
}

// Influence of each round on the figure.
std::vector<double> Influences(const Rounds& rounds, const std::vector<double>& means,
                               const std::vector<double>& slopes) {
  std::vector<double> influences;
  influences.reserve(rounds.size());
  for (const auto& round : rounds) {
    double sum = 0;
    for (size_t i = 0; i < means.size(); ++i) sum += slopes[i] * (round[i] - means[i]);
    influences.push_back(sum);
  }
  return influences;
}

// Variance of the mean of values that have mean 0 (Newey and West).
double VarianceOfMean(const std::vector<double>& values) {
  const size_t count = values.size();
  const auto product = [&](size_t lag) {
    double sum = 0;
    for (size_t i = lag; i < count; ++i) sum += values[i] * values[i - lag];
    return sum / static_cast<double>(count - 1);
  };
  const double own = product(0);
  double all = own;
  const auto lags = static_cast<size_t>(std::cbrt(static_cast<double>(count)));
  for (size_t lag = 1; lag <= lags && lag < count; ++lag) {
    const double weight = 1 - static_cast<double>(lag) / static_cast<double>(lags + 1);
    all += 2 * weight * product(lag);
  }
  return std::max(own, all) / static_cast<double>(count);
}

}  // namespace

Estimate EstimateFigure(const Rounds& rounds, const FigureOfMeans& figure) {
  if (rounds.empty()) return {};
  const std::vector<double> means = Means(rounds);
  const double value = figure(means);
  if (rounds.size() < kFewestRounds) {
    constexpr double kNoEnd = std::numeric_limits<double>::infinity();
    return {value, -kNoEnd, kNoEnd};
  }
  const double error = std::sqrt(VarianceOfMean(Influences(rounds, means, Slopes(means, figure))));
  const double reach = Student975(static_cast<double>(rounds.size() - 1)) * error;
  return {value, value - reach, value + reach};
}

}  // namespace recpack::probe

#include "recpack/probe/estimate.h"

#include <algorithm>
#include <cmath>

#include "recpack/base/random.h"

namespace recpack {
namespace {

constexpr size_t kDraws = 2000;
constexpr double kTail = 0.025;

double Ratio(const Part& sum) { return sum.whole > 0 ? sum.part / sum.whole : 0; }

// Sums of the first i parts.
std::vector<Part> Sums(const std::vector<Part>& series) {
  std::vector<Part> sums(series.size() + 1);
  for (size_t i = 0; i < series.size(); ++i) {
    sums[i + 1] = {sums[i].part + series[i].part, sums[i].whole + series[i].whole};
  }
  return sums;
}

}  // namespace

Estimate ShareOf(const std::vector<Part>& series) {
  if (series.empty()) return {};
  const std::vector<Part> sums = Sums(series);
  const size_t count = series.size();
  const auto block = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  const size_t places = count - block + 1, blocks = (count + block - 1) / block;
  std::vector<double> draws;
  draws.reserve(kDraws);
  for (uint32_t i = 0; i < kDraws; ++i) {
    KeyedRandom random(0, 0, i);
    Part drawn;
    for (size_t j = 0; j < blocks; ++j) {
      const size_t begin = random.NextBelow(static_cast<uint32_t>(places));
      drawn.part += sums[begin + block].part - sums[begin].part;
      drawn.whole += sums[begin + block].whole - sums[begin].whole;
    }
    draws.push_back(Ratio(drawn));
  }
  std::sort(draws.begin(), draws.end());
  const auto at = [&](double quantile) {
    return draws[static_cast<size_t>(quantile * static_cast<double>(kDraws - 1))];
  };
  const double value = Ratio(sums.back());
  return {value, std::min(value, at(kTail)), std::max(value, at(1 - kTail))};
}

}  // namespace recpack

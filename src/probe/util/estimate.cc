#include "src/probe/util/estimate.h"

#include <algorithm>
#include <cmath>

#include "recpack/base/random.h"
#include "src/probe/util/block_length.h"
#include "src/probe/util/student.h"

namespace recpack::probe {
namespace {

constexpr size_t kDraws = 2000;
constexpr double kTail = 0.025;
constexpr size_t kMostParts = 4096;  // of a longer series, neighbours are one

double Ratio(const Part& sum) { return sum.whole > 0 ? sum.part / sum.whole : 0; }

Part Sum(const std::vector<Part>& series, size_t begin, size_t end) {
  Part sum;
  for (size_t i = begin; i < end; ++i) {
    sum.part += series[i].part;
    sum.whole += series[i].whole;
  }
  return sum;
}

std::vector<Part> Grouped(const std::vector<Part>& series) {
  const size_t together = (series.size() + kMostParts - 1) / kMostParts;
  if (together == 1) return series;
  std::vector<Part> grouped;
  grouped.reserve(series.size() / together + 1);
  for (size_t i = 0; i < series.size(); i += together) {
    grouped.push_back(Sum(series, i, std::min(i + together, series.size())));
  }
  return grouped;
}

// What each part adds to the ratio's error, but for a factor.
std::vector<double> Residuals(const std::vector<Part>& series, double ratio) {
  std::vector<double> residuals;
  residuals.reserve(series.size());
  for (const Part& part : series) residuals.push_back(part.part - ratio * part.whole);
  return residuals;
}

// Of so many draws of blocks that lie anywhere on the series bent into a ring, in order.
std::vector<double> DrawnRatios(const std::vector<Part>& series, size_t block) {
  const size_t count = series.size(), blocks = (count + block - 1) / block;
  std::vector<Part> sums(count);  // of the block that begins there
  for (size_t i = 0; i < count; ++i) {
    const size_t end = i + block;
    sums[i] = Sum(series, i, std::min(end, count));
    if (end <= count) continue;
    const Part wrapped = Sum(series, 0, end - count);
    sums[i].part += wrapped.part;
    sums[i].whole += wrapped.whole;
  }
  std::vector<double> ratios;
  ratios.reserve(kDraws);
  for (uint32_t i = 0; i < kDraws; ++i) {
    KeyedRandom random(0, 0, i);
    Part drawn;
    for (size_t j = 0; j < blocks; ++j) {
      const Part& sum = sums[random.NextBelow(static_cast<uint32_t>(count))];
      drawn.part += sum.part;
      drawn.whole += sum.whole;
    }
    ratios.push_back(Ratio(drawn));
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

// What a percentile interval of so few blocks lacks: they vary less about their own mean than about
// the true one, and their variance is known by as many degrees of freedom only.
double Widening(size_t count, const Blocks& of) {
  const double blocks = static_cast<double>(count) / static_cast<double>(of.length);
  if (blocks <= 1) return 1;
  const double drawn = std::ceil(blocks) / blocks;  // the last block reaches beyond the series
  return Student975(blocks - 1) / kNormal975 * std::sqrt(blocks / (blocks - 1) * drawn / of.seen);
}

}  // namespace

Estimate QuotientOf(const std::vector<Part>& told) {
  if (told.empty()) return {};
  const std::vector<Part> series = Grouped(told);
  const double value = Ratio(Sum(series, 0, series.size()));
  const Blocks blocks = BlocksOf(Residuals(series, value));
  const std::vector<double> ratios = DrawnRatios(series, blocks.length);
  const double widening = Widening(series.size(), blocks);
  const auto end = [&](double quantile) {
    const double at = ratios[static_cast<size_t>(quantile * static_cast<double>(kDraws - 1))];
    return value + widening * (at - value);
  };
  return {value, std::min(value, std::max(0.0, end(kTail))), std::max(value, end(1 - kTail))};
}

Estimate ShareOf(const std::vector<Part>& series) {
  Estimate share = QuotientOf(series);
  share.high = std::max(share.value, std::min(1.0, share.high));
  return share;
}

}  // namespace recpack::probe

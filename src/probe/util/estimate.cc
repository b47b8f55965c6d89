#include "src/probe/util/estimate.h"

#include <algorithm>
#include <cmath>

#include "recpack/base/random.h"
#include "src/probe/util/block_length.h"

namespace recpack::probe {
namespace {

constexpr size_t kDraws = 2000;
constexpr double kTail = 0.025;
constexpr size_t kMostParts = 4096;  // neighbours of a longer series are added up

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

// Returns each part's contribution to the ratio's error, up to a constant factor.
std::vector<double> Residuals(const std::vector<Part>& series, double ratio) {
  std::vector<double> residuals;
  residuals.reserve(series.size());
  for (const Part& part : series) residuals.push_back(part.part - ratio * part.whole);
  return residuals;
}

// Returns the sorted ratios of kDraws bootstrap samples of circular blocks.
std::vector<double> DrawnRatios(const std::vector<Part>& series, size_t block) {
  const size_t count = series.size(), blocks = (count + block - 1) / block;
  std::vector<Part> sums(count);  // sums[i]: the block that begins at i
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

// Returns the factor that a percentile interval of few blocks is too narrow by: blocks vary less
// about their own mean than about the true one, and few of them estimate their variance badly.
double Widening(size_t count, const Blocks& chosen) {
  const double blocks = static_cast<double>(count) / static_cast<double>(chosen.length);
  if (blocks <= 1) return 1;
  const double drawn = std::ceil(blocks) / blocks;  // the last block reaches beyond the series
  return Student975(blocks - 1) / kNormal975 *
         std::sqrt(blocks / (blocks - 1) * drawn / chosen.seen);
}

}  // namespace

Estimate EstimateQuotient(const std::vector<Part>& parts) {
  if (parts.empty()) return {};
  const std::vector<Part> series = Grouped(parts);
  const double value = Ratio(Sum(series, 0, series.size()));
  const Blocks blocks = ChooseBlocks(Residuals(series, value));
  const std::vector<double> ratios = DrawnRatios(series, blocks.length);
  const double widening = Widening(series.size(), blocks);
  const auto end = [&](double quantile) {
    const double at = ratios[static_cast<size_t>(quantile * static_cast<double>(kDraws - 1))];
    return value + widening * (at - value);
  };
  return {value, std::min(value, std::max(0.0, end(kTail))), std::max(value, end(1 - kTail))};
}

Estimate EstimateShare(const std::vector<Part>& series) {
  Estimate share = EstimateQuotient(series);
  share.high = std::max(share.value, std::min(1.0, share.high));
  return share;
}

double Student975(double freedom) {
  const double nu = freedom < 2 ? 2 : freedom, z = kNormal975, z2 = z * z;
  const double g1 = (z2 + 1) / 4;
  const double g2 = ((5 * z2 + 16) * z2 + 3) / 96;
  const double g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  return z * (1 + (g1 + (g2 + g3 / nu) / nu) / nu);
}

}  // namespace recpack::probe

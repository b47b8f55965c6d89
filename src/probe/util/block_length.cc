#include "src/probe/util/block_length.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace recpack::probe {
namespace {

// Correlations above this many standard errors are significant.
constexpr double kSignificant = 2;

class Autocovariance {
 public:
  explicit Autocovariance(const std::vector<double>& series) : values_(series) {
    const double mean =
        std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(values_.size());
    for (double& value : values_) value -= mean;
  }

  double At(size_t lag) {
    while (known_.size() <= lag) {
      const auto shifted = values_.begin() + static_cast<ptrdiff_t>(known_.size());
      known_.push_back(std::inner_product(shifted, values_.end(), values_.begin(), 0.0) /
                       static_cast<double>(values_.size()));
    }
    return known_[lag];
  }

 private:
  std::vector<double> values_;
  std::vector<double> known_;
};

// Returns the last lag with a significant correlation before `in_a_row` insignificant ones.
size_t LastCorrelated(Autocovariance& covariance, size_t count, size_t in_a_row, size_t longest) {
  const auto n = static_cast<double>(count);
  const double limit = kSignificant * std::sqrt(std::log10(n) / n) * covariance.At(0);
  size_t last = 0;
  for (size_t lag = 1; lag <= longest && lag <= last + in_a_row; ++lag) {
    if (std::abs(covariance.At(lag)) >= limit) last = lag;
  }
  return last;
}

// Flat-top window: 1 up to half of the bandwidth, then falls linearly to 0.
double Weight(double lag) { return lag <= 0.5 ? 1 : 2 * (1 - lag); }

}  // namespace

Blocks ChooseBlocks(const std::vector<double>& series) {
  const size_t count = series.size();
  if (count < 3) return {};
  const auto n = static_cast<double>(count);
  const auto shortest = static_cast<size_t>(std::ceil(std::cbrt(n)));
  const auto longest = static_cast<size_t>(std::ceil(std::min(3 * std::sqrt(n), n / 3)));
  const auto in_a_row = static_cast<size_t>(std::max(5.0, std::ceil(std::sqrt(std::log10(n)))));
  const size_t most_lags =
      std::min(count - 1, static_cast<size_t>(std::ceil(std::sqrt(n))) + in_a_row);
  Autocovariance covariance(series);
  if (!(covariance.At(0) > 0)) return {.length = shortest};
  const size_t last = LastCorrelated(covariance, count, in_a_row, most_lags);
  const size_t bandwidth = std::min(std::max<size_t>(2 * last, 2), most_lags);
  double spectrum = covariance.At(0);  // spectral density at frequency 0
  double slope = 0;                    // derivative of the variance by block length
  for (size_t lag = 1; lag <= bandwidth; ++lag) {
    const double weighted =
        2 * Weight(static_cast<double>(lag) / static_cast<double>(bandwidth)) * covariance.At(lag);
    spectrum += weighted;
    slope += weighted * static_cast<double>(lag);
  }
  const double spread = 4.0 / 3 * spectrum * spectrum;
  const double best = spread > 0 ? std::cbrt(2 * slope * slope / spread * n) : n;
  const size_t length = std::clamp(static_cast<size_t>(std::ceil(std::min(best, n))), shortest,
                                   std::max(shortest, longest));
  if (!(spectrum > 0)) return {.length = length};
  return {.length = length,
          .seen = std::clamp(1 - slope / (static_cast<double>(length) * spectrum), 0.5, 1.0)};
}

}  // namespace recpack::probe

#include "src/probe/steps/period.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace recpack::probe {
namespace {

constexpr size_t kShortest = 4;       // spacings
constexpr size_t kFewestPeriods = 6;  // per signal
constexpr size_t kFewestValues = 64;
constexpr double kRepeats = 0.5;
constexpr double kRepeatsAgain = 0.4;  // at twice the shift
constexpr double kStandsOut = 0.25;    // above the valleys beside the peak
constexpr double kNearHighest = 0.85;  // of the highest peak

// Returns the autocorrelation for shifts up to half of the signal; empty if the signal is constant.
std::vector<double> Autocorrelation(std::span<const float> signal) {
  const size_t n = signal.size();
  // Averages neighbours, so that a jitter of one spacing does not hide the period.
  std::vector<float> values(signal.begin(), signal.end());
  for (size_t i = 1; i + 1 < n; ++i) {
    values[i] = (signal[i - 1] + 2 * signal[i] + signal[i + 1]) / 4;
  }
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
  for (float& value : values) value -= static_cast<float>(mean);
  std::vector<double> correlation(n / 2 + 1);
  for (size_t shift = 0; shift < correlation.size(); ++shift) {
    const double sum = std::inner_product(values.begin() + static_cast<ptrdiff_t>(shift),
                                          values.end(), values.begin(), 0.0);
    correlation[shift] = sum / static_cast<double>(n - shift);
  }
  if (!(correlation[0] > 1e-12 * (1 + mean * mean))) return {};
  for (size_t shift = correlation.size(); shift-- > 0;) correlation[shift] /= correlation[0];
  return correlation;
}

// Returns the index of the highest value in [begin, end].
size_t Highest(const std::vector<double>& correlation, size_t begin, size_t end) {
  const auto first = correlation.begin() + static_cast<ptrdiff_t>(begin);
  const auto last =
      correlation.begin() + static_cast<ptrdiff_t>(std::min(end + 1, correlation.size()));
  return static_cast<size_t>(std::max_element(first, last) - correlation.begin());
}

double Lowest(const std::vector<double>& correlation, size_t begin, size_t end) {
  return *std::min_element(
      correlation.begin() + static_cast<ptrdiff_t>(begin),
      correlation.begin() + static_cast<ptrdiff_t>(std::min(end + 1, correlation.size())));
}

bool IsPeak(const std::vector<double>& correlation, size_t shift) {
  const size_t around = std::max<size_t>(1, shift / 8);
  if (correlation[shift] < kRepeats ||
      Highest(correlation, shift - around, shift + around) != shift)
    return false;
  const double below = correlation[shift] - kStandsOut;
  if (Lowest(correlation, 0, shift) > below || Lowest(correlation, shift, 2 * shift) > below)
    return false;
  return correlation[Highest(correlation, 2 * shift - around, 2 * shift + around)] >= kRepeatsAgain;
}

// Refines a peak's position by a parabola through it and its neighbours.
double Refined(const std::vector<double>& correlation, size_t peak) {
  if (peak + 1 >= correlation.size()) return static_cast<double>(peak);
  const double left = correlation[peak - 1], right = correlation[peak + 1];
  const double curve = left - 2 * correlation[peak] + right;
  const double off = curve < 0 ? 0.5 * (left - right) / curve : 0;
  return static_cast<double>(peak) + std::clamp(off, -0.5, 0.5);
}

// Fits a line through the origin and the peaks at the multiples of `shift`.
Period Fit(const std::vector<double>& correlation, size_t shift) {
  std::vector<double> peaks = {Refined(correlation, shift)};
  double length = peaks[0];
  for (size_t i = 2;; ++i) {
    const auto middle = static_cast<size_t>(std::lround(static_cast<double>(i) * length));
    const size_t around = std::max<size_t>(1, shift / 4);
    if (middle + around >= correlation.size()) break;
    const size_t peak = Highest(correlation, middle - around, middle + around);
    if (correlation[peak] < kRepeatsAgain) break;
    peaks.push_back(Refined(correlation, peak));
    length = peaks.back() / static_cast<double>(i);
  }
  double products = 0, squares = 0;
  for (size_t i = 0; i < peaks.size(); ++i) {
    products += static_cast<double>(i + 1) * peaks[i];
    squares += static_cast<double>((i + 1) * (i + 1));
  }
  length = products / squares;
  double rest = 0;
  for (size_t i = 0; i < peaks.size(); ++i) {
    rest += std::pow(peaks[i] - static_cast<double>(i + 1) * length, 2);
  }
  if (peaks.size() > 1) rest /= static_cast<double>(peaks.size() - 1);
  const double spacing = 1.0 / 12;  // variance of a position that is rounded to one spacing
  return {.of = {},
          .seconds = length,
          .error = std::sqrt((rest + spacing) / squares),
          .strength = correlation[shift]};
}

// Returns the standard error of the mean of the periods of parts of the signal. It covers step
// lengths that vary along the signal, which the peaks of the whole signal hide. 0 if the signal is
// too short.
double ErrorOfParts(std::span<const float> signal, double length) {
  constexpr double kPeriodsOfPart = 3;
  constexpr size_t kMostParts = 8;
  const auto fit =
      static_cast<size_t>(static_cast<double>(signal.size()) / length / kPeriodsOfPart);
  const size_t parts = std::min(kMostParts, fit);
  if (parts < 3) return 0;
  const size_t size = signal.size() / parts;
  const auto middle = static_cast<size_t>(std::lround(length));
  const size_t around = std::max<size_t>(1, middle / 4);
  std::vector<double> lengths;
  lengths.reserve(parts);
  for (size_t i = 0; i < parts; ++i) {
    const auto correlation = Autocorrelation(signal.subspan(i * size, size));
    if (correlation.size() <= middle + around) continue;
    lengths.push_back(Refined(correlation, Highest(correlation, middle - around, middle + around)));
  }
  if (lengths.size() < 3) return 0;
  const auto count = static_cast<double>(lengths.size());
  const double mean = std::accumulate(lengths.begin(), lengths.end(), 0.0) / count;
  double squares = 0;
  for (const double each : lengths) squares += (each - mean) * (each - mean);
  return std::sqrt(squares / (count - 1) / count);
}

}  // namespace

std::optional<Period> FindPeriod(std::span<const float> signal, double spacing) {
  if (signal.size() < kFewestValues || !(spacing > 0)) return {};
  const std::vector<double> correlation = Autocorrelation(signal);
  if (correlation.empty()) return {};
  std::vector<size_t> peaks;
  for (size_t shift = kShortest; shift <= signal.size() / kFewestPeriods; ++shift) {
    if (IsPeak(correlation, shift)) peaks.push_back(shift);
  }
  double highest = 0;
  for (const size_t peak : peaks) highest = std::max(highest, correlation[peak]);
  for (const size_t peak : peaks) {
    if (correlation[peak] < kNearHighest * highest) continue;
    Period period = Fit(correlation, peak);
    period.error = std::hypot(period.error, ErrorOfParts(signal, period.seconds));
    period.seconds *= spacing;
    period.error *= spacing;
    return period;
  }
  return {};
}

}  // namespace recpack::probe

#include "src/train/trace/calibration.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace recpack::train {
namespace {

constexpr int kBits = 16;  // magnitude bits that are not distinguished
constexpr size_t kBins = size_t{1} << (31 - kBits);

}  // namespace

Calibration::Calibration(const Trace& trace) : trace_(trace) {}

void Calibration::Observe(const void* input) {
  Widen(trace_.input.data, static_cast<const float*>(input), trace_.input.elements());
  for (const TracedStep& step : trace_.steps) {
    Widen(step.y.data, step.y.As<float>(), step.y.elements());
  }
}

void Calibration::Widen(const void* where, const float* values, int64_t count) {
  Magnitudes& of = magnitudes_[where];
  of.counts.resize(kBins);
  for (int64_t i = 0; i < count; ++i) {
    const float magnitude = std::fabs(values[i]);
    of.largest = std::max(of.largest, magnitude);
    ++of.counts[std::bit_cast<uint32_t>(magnitude) >> kBits];
  }
}

ActivationRanges Calibration::Ranges(double percentile) const {
  ActivationRanges ranges;
  for (const auto& [where, of] : magnitudes_) {
    const auto all = std::accumulate(of.counts.begin(), of.counts.end(), uint64_t{0});
    const double wanted = static_cast<double>(all) * (percentile / 100);
    uint64_t below = 0;
    size_t bin = 0;
    while (bin + 1 < kBins && static_cast<double>(below += of.counts[bin]) < wanted) ++bin;
    const float end = std::bit_cast<float>(static_cast<uint32_t>(bin + 1) << kBits);
    ranges[where] = percentile < 100 && end < of.largest ? end : of.largest;
  }
  return ranges;
}

}  // namespace recpack::train

#include "src/train/calibration.h"

#include <algorithm>
#include <cmath>

namespace recpack {

Calibration::Calibration(const Trace& trace) : trace_(trace) {}

void Calibration::Observe(const void* input) {
  Widen(trace_.input.data, static_cast<const float*>(input), trace_.input.elements());
  for (const TracedStep& step : trace_.steps) {
    Widen(step.y.data, step.y.As<float>(), step.y.elements());
  }
}

void Calibration::Widen(const void* where, const float* values, int64_t count) {
  float& range = ranges_[where];
  for (int64_t i = 0; i < count; ++i) range = std::max(range, std::fabs(values[i]));
}

}  // namespace recpack

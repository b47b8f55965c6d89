// Converts and formats quantities with units.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>

#include "src/base/format.h"
#include "src/probe/util/estimate.h"

namespace recpack::probe {

// Converts nanoseconds, as times of events are.
inline double Seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }
inline double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// Formats with at least three significant digits: "1,234", "0.12".
inline std::string NumberText(double value) {
  if (!std::isfinite(value)) return "unlimited";
  return value < 100 ? format("{:.3g}", value)
                     : CountText(static_cast<uint64_t>(std::llround(value)));
}

// Formats a rate. `unit`: "B/s", "pictures/s", ...
inline std::string RateText(double value, const std::string& unit) {
  return unit == "B/s" ? BytesText(value) + "/s" : NumberText(value) + " " + unit;
}

// Formats shares of 1 with their interval: "12.3 % [11.0, 13.5]".
inline std::string PercentRange(const Estimate& share) {
  return format("{} [{:.1f}, {:.1f}]", Percent(share.value), 100 * share.low, 100 * share.high);
}

}  // namespace recpack::probe

// Formats quantities with units for people.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "src/base/format.h"

namespace recpack::probe {

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

}  // namespace recpack::probe

// Formats quantities with units for people.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "src/base/format.h"

namespace recpack::probe {

// Formats with at least three significant digits: "1,234", "0.12".
inline std::string CountText(double value) {
  if (!std::isfinite(value)) return "unlimited";
  if (value < 100) return format("{:.3g}", value);
  std::string text = format("{:.0f}", value);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<size_t>(at), ",");
  }
  return text;
}

// Formats bytes with decimal units: "61.4 MB".
inline std::string BytesText(double bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  for (; bytes >= 999.5 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1000;
  return format("{:.3g} {}", bytes, kUnits[unit]);
}

// Formats a rate. `unit`: "B/s", "pictures/s", ...
inline std::string RateText(double value, const std::string& unit) {
  return unit == "B/s" ? BytesText(value) + "/s" : CountText(value) + " " + unit;
}

// Formats a share: 0.123 as "12.3 %".
inline std::string Percent(double share) { return format("{:.1f} %", 100 * share); }

}  // namespace recpack::probe

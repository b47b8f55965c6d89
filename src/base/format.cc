#include "src/base/format.h"

#include <iterator>

namespace recpack {

std::string BytesText(double bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  for (; bytes >= 999.95 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1000;
  return format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string CountText(uint64_t count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string DurationText(double seconds) {
  if (seconds < 120) return format("{:.{}f} s", seconds, seconds < 10 ? 2 : 0);
  return seconds < 7200 ? format("{:.0f} min", seconds / 60) : format("{:.1f} h", seconds / 3600);
}

std::string Percent(double share, int decimals) {
  return format("{:.{}f} %", 100 * share, decimals);
}

}  // namespace recpack

#include "tools/human.h"

#include <iterator>

#include "src/base/format.h"

namespace recpack::tool {

std::string HumanBytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 999.95 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return unit == 0 ? format("{} B", bytes) : format("{:.1f} {}", value, kUnits[unit]);
}

std::string HumanCount(uint64_t count) {
  std::string text = std::to_string(count);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<size_t>(at), ",");
  }
  return text;
}

}  // namespace recpack::tool

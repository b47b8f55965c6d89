#include "src/probe/verdict/cause.h"

#include <algorithm>

#include "src/base/format.h"

namespace recpack::probe {

double Speedup(double saves) noexcept {
  return std::min(kMostSpeedup, 1 / std::max(1e-9, 1 - saves));
}

std::string SpeedupText(double saves) {
  const double speedup = Speedup(saves);
  if (speedup >= kMostSpeedup) return format("over {:.0f} times as fast", kMostSpeedup);
  return format("{:.2f} times as fast", speedup);
}

std::string ActionText(const Action& action) {
  std::string text = action.text;
  if (action.saves) text += format("; expected: {}", SpeedupText(*action.saves));
  const std::string line = action.where.substr(0, action.where.find(' '));
  if (action.text.find(line) == std::string::npos) text += format("; at {}", action.where);
  return text;
}

}  // namespace recpack::probe

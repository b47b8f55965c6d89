#include "src/probe/verdict/cause.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "src/base/format.h"

namespace recpack::probe {
namespace {

bool IsOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Tells whether the text names the line: "t.py:12" does not name "t.py:1".
bool Names(std::string_view text, std::string_view line) {
  for (size_t at = text.find(line); at != text.npos; at = text.find(line, at + 1)) {
    const size_t end = at + line.size();
    const bool begins = at == 0 || !IsOfName(text[at - 1]);
    if (begins && (end == text.size() || !IsOfName(text[end]))) return true;
  }
  return false;
}

}  // namespace

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
  if (!line.empty() && !Names(action.text, line)) text += format("; at {}", action.where);
  return text;
}

}  // namespace recpack::probe

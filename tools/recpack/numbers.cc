#include "tools/recpack/numbers.h"

#include <charconv>
#include <string>

#include "src/base/format.h"

namespace recpack::tool {

std::optional<uint64_t> WholeNumber(std::string_view text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stopped != end) return {};
  return number;
}

CLI::Validator WholeNumberIn(uint64_t least, uint64_t most) {
  const auto check = [=](const std::string& text) -> std::string {
    const auto number = WholeNumber(text);
    if (number && *number >= least && *number <= most) return {};
    return most == INT64_MAX
               ? format("'{}' is not a whole number from {} up", text, least)
               : format("'{}' is not a whole number from {} to {}", text, least, most);
  };
  return CLI::Validator(check, "");
}

}  // namespace recpack::tool

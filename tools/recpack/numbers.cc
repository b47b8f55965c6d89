#include "tools/recpack/numbers.h"

#include <string>

#include "src/base/format.h"
#include "src/base/parse_units.h"

namespace recpack::tool {

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

#include "src/base/parse_units.h"

#include <charconv>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {
namespace {

// Splits a text into its leading number and the rest.
std::pair<double, std::string> NumberAndUnit(const std::string& text) {
  double number = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc()) number = -1;
  return {number, std::string(end, text.data() + text.size())};
}

}  // namespace

std::optional<uint64_t> WholeNumber(std::string_view text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stopped != end) return {};
  return number;
}

uint64_t ParseBytes(const std::string& text) {
  const auto [number, unit] = NumberAndUnit(text);
  constexpr std::pair<const char*, double> kUnits[] = {
      {"", 1},          {"B", 1},         {"k", 1e3},          {"kB", 1e3}, {"KB", 1e3},
      {"K", 1e3},       {"M", 1e6},       {"MB", 1e6},         {"G", 1e9},  {"GB", 1e9},
      {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1ull << 30}, {"TB", 1e12}};
  for (const auto& [name, factor] : kUnits) {
    if (number * factor >= 1 && unit == name && number * factor < 1e18) {
      return static_cast<uint64_t>(number * factor);
    }
  }
  throw Error(ErrorKind::kInvalidArgument, format("not a size: '{}'", text), {},
              "write it like 100MB, 64MiB or 1GB");
}

double ParseShare(const std::string& text) {
  const auto [number, unit] = NumberAndUnit(text);
  const double share = unit == "%" ? number / 100 : number;
  if (number >= 0 && share <= 1 && (unit.empty() || unit == "%")) return share;
  throw Error(ErrorKind::kInvalidArgument, format("not a share: '{}'", text), {},
              "write it like 0.1% or 0.001");
}

}  // namespace recpack

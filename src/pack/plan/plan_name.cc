#include "src/pack/plan/plan_name.h"

#include <charconv>

#include "src/base/format.h"

namespace recpack::pack {

std::optional<uint32_t> NumberIn(std::string_view name, std::string_view prefix,
                                 std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return {};
  const char* const end = name.data() + name.size() - suffix.size();
  uint32_t number = 0;
  const auto [stopped, code] = std::from_chars(name.data() + prefix.size(), end, number);
  return code == std::errc() && stopped == end ? std::optional(number) : std::nullopt;
}

std::string PlanName(uint32_t append) {
  return append == 0 ? "plan.json" : format("plan-append{}.json", append);
}

std::optional<uint32_t> NumberOfAppend(std::string_view name) {
  return NumberIn(name, "plan-append", ".json");
}

bool IsPlan(std::string_view name) { return name == PlanName(0) || NumberOfAppend(name); }

}  // namespace recpack::pack

// Names of plans in the state folder: "plan.json", and "plan-append1.json" of the first append.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace recpack::pack {

// Returns 12 for "PREFIX12SUFFIX"; nullopt for other names.
std::optional<uint32_t> NumberIn(std::string_view name, std::string_view prefix,
                                 std::string_view suffix);

// Name of the plan of an append; 0: of the first pack.
std::string PlanName(uint32_t append);

// Returns the number of the append whose plan has this name; nullopt for other names.
std::optional<uint32_t> NumberOfAppend(std::string_view name);

bool IsPlan(std::string_view name);

}  // namespace recpack::pack

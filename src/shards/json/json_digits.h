// JSON whose numbers keep the digits that they are written with.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace recpack {

// As nlohmann::json::parse(), but that numbers which are no 64-bit integers, for which it has
// doubles, are not rounded. Discarded where the text is no JSON, or
// nested deeper than kMostJsonLevels.
nlohmann::json ParseJsonDigits(std::string_view text);

// Of values of ParseJsonDigits().
bool IsNumberOfDigits(const nlohmann::json& value);
std::string TextOfDigits(const nlohmann::json& value);  // its JSON text, without spaces

}  // namespace recpack

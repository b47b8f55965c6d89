// JSON parser that keeps the digits of numbers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace recpack {

// Like nlohmann::json::parse(), but numbers that are not 64-bit integers keep their digits instead
// of being rounded to doubles. Returns a discarded value if the text is not JSON or is nested
// deeper than kMostJsonLevels.
nlohmann::json ParseJsonDigits(std::string_view text);

// For values returned by ParseJsonDigits().
bool IsNumberOfDigits(const nlohmann::json& value);
std::string DumpDigits(const nlohmann::json& value);  // JSON text, without spaces

}  // namespace recpack

// The depth of JSON that is read.
#pragma once

#include <string_view>

namespace recpack {

// Levels that JSON may be nested; deeper text is refused before anything recurses into it.
inline constexpr int kMostJsonLevels = 100;

// Whether brackets outside of strings nest deeper than that. The text need not be JSON.
bool NestsTooDeep(std::string_view text);

}  // namespace recpack

// The depth of JSON that is read.
#pragma once

namespace recpack {

// Levels that JSON may be nested; deeper text is refused before anything recurses into it.
inline constexpr int kMostJsonLevels = 100;

}  // namespace recpack

// Bitmap font with letters of 5 by 8 pixels.
#pragma once

#include <array>
#include <cstdint>

namespace recpack::pack {

inline constexpr int kLetterWidth = 5;
inline constexpr int kLetterHeight = 8;
inline constexpr int kLetterAdvance = 6;

// Returns the five columns of a letter from left to right, the lowest bit on top. Characters other
// than printable ASCII look like '?'.
const std::array<uint8_t, kLetterWidth>& LetterColumns(char letter);

}  // namespace recpack::pack

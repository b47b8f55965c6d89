// Letters of 5 by 8 pixels for labels on pictures.
#pragma once

#include <array>
#include <cstdint>

namespace recpack::pack {

inline constexpr int kLetterWidth = 5;
inline constexpr int kLetterHeight = 8;
inline constexpr int kLetterAdvance = 6;

// Five columns from left to right, the lowest bit on top. What is not printable ASCII looks like
// '?'.
const std::array<uint8_t, kLetterWidth>& LetterColumns(char letter);

}  // namespace recpack::pack

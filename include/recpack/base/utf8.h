// Whether text is UTF-8 (RFC 3629).
#pragma once

#include <cstdint>
#include <string_view>

namespace recpack {

// No surrogates, nothing overlong, nothing above U+10FFFF.
inline bool IsUtf8(std::string_view text) noexcept {
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte < 0x80) {
      ++i;
      continue;
    }
    const size_t more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
    if (byte < 0xc2 || byte > 0xf4 || text.size() - i <= more) return false;
    uint32_t point = byte & (0x3f >> more);
    for (size_t k = 1; k <= more; ++k) {
      const auto next = static_cast<uint8_t>(text[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      point = point << 6 | (next & 0x3f);
    }
    constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (point < kLeast[more] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
      return false;
    i += more + 1;
  }
  return true;
}

}  // namespace recpack

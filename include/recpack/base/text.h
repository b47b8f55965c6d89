// String helpers: splitting, nearest names, UTF-8 validation, markup escaping, JSON nesting depth.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace recpack {

// Splits `text` at each separator: "a,,b" gives "a", "", "b"; "" gives one empty part.
inline std::vector<std::string> SplitText(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Names that a message lists; a user's data may have a hundred thousand.
inline constexpr size_t kMostNamesListed = 20;

// Joins the names of a list's elements for a message: "a, b, c", or "a, b and 7 more" where there
// are more than `most`. `name` gives an element's name: a function or a pointer to a member.
template <typename List, typename Name = std::identity>
std::string JoinNames(const List& list, Name name = {}, size_t most = kMostNamesListed) {
  std::string text;
  size_t count = 0;
  for (const auto& element : list) {
    if (++count > most) continue;
    if (count > 1) text += ", ";
    text += std::invoke(name, element);
  }
  return count > most ? text + " and " + std::to_string(count - most) + " more" : text;
}

// Sorts the texts and removes duplicates.
inline void SortAndUnite(std::vector<std::string>& texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
}

// Tells whether `text` is valid UTF-8: no surrogates, no overlong forms, nothing above U+10FFFF.
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

// Escapes `text` for use as element content or as a quoted attribute value. Replaces control
// characters, which XML forbids, by spaces; keeps tabs and newlines.
std::string EscapedMarkup(std::string_view text);

// Maximum nesting depth; deeper text is refused before a parser recurses into it.
inline constexpr int kMostJsonLevels = 100;

// Tells whether brackets outside of strings nest deeper than kMostJsonLevels. The text need not be
// valid JSON.
bool NestsTooDeep(std::string_view text);

// Returns the name that fewest edits make of a word, which may be mistyped; empty if all differ in
// half of it or more.
std::string NearestName(const std::string& word, const std::vector<std::string>& names);

}  // namespace recpack

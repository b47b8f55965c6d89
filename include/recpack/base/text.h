// Small operations on texts.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace recpack {

// "a,,b" gives "a", "", "b"; "" gives one empty part.
inline std::vector<std::string> SplitText(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Leaves one of each.
inline void SortAndUnite(std::vector<std::string>& texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
}

}  // namespace recpack

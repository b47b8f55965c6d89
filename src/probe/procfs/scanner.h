// Numbers and words out of the text of /proc files, without copies.
#pragma once

#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "src/probe/procfs/system_sample.h"

namespace recpack::probe {

class Scanner {
 public:
  explicit Scanner(std::string_view text) noexcept : text_(text) {}

  bool done() const noexcept { return text_.empty(); }
  std::string_view rest() const noexcept { return text_; }

  // To the next blank; empty at the end of the text.
  std::string_view Word() noexcept {
    size_t begin = 0;
    while (begin < text_.size() && IsBlank(text_[begin])) ++begin;
    text_.remove_prefix(begin);
    size_t size = 0;
    while (size < text_.size() && !IsBlank(text_[size])) ++size;
    return Take(size);
  }

  // Nothing where no number follows, or one that is too large: that word is passed over.
  std::optional<uint64_t> Number() noexcept {
    const std::string_view word = Word();
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (word.empty() || error != std::errc() || end == word.data()) return std::nullopt;
    return number;
  }

  // The rest of the line, without its end.
  std::string_view Line() noexcept {
    const std::string_view line = Take(text_.find('\n'));
    if (!text_.empty()) text_.remove_prefix(1);
    return line;
  }

 private:
  // string_view::find_first_of() is a call a character.
  static bool IsBlank(char c) noexcept { return c == ' ' || c == '\n' || c == '\t'; }
  std::string_view Take(size_t size) noexcept {
    const std::string_view taken = text_.substr(0, size);
    text_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view text_;
};

// Where a number goes that stands behind a name, and what it is multiplied by.
struct NamedNumber {
  std::string_view name;
  Counter* value;
  uint64_t unit = 1;
};

// Lines "NAME NUMBER" and "NAME: NUMBER". A name that does not come leaves its value missing.
inline void TakeNamed(std::string_view text, std::initializer_list<NamedNumber> wanted) noexcept {
  for (const NamedNumber& number : wanted) number.value->reset();
  Scanner lines(text);
  while (!lines.done()) {
    Scanner line(lines.Line());
    std::string_view name = line.Word();
    if (name.ends_with(':')) name.remove_suffix(1);
    for (const NamedNumber& number : wanted) {
      if (name != number.name) continue;
      if (const auto value = line.Number()) *number.value = *value * number.unit;
    }
  }
}

}  // namespace recpack::probe

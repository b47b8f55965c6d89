// Parses the text of /proc files: words, numbers, core lists and ticks. Does not copy text.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "src/probe/procfs/system_sample.h"

namespace recpack::probe {

class Scanner {
 public:
  explicit Scanner(std::string_view text) noexcept : text_(text) {}

  bool done() const noexcept { return text_.empty(); }
  std::string_view rest() const noexcept { return text_; }

  // Returns the next word; empty at the end of the text.
  std::string_view Word() noexcept {
    size_t begin = 0;
    while (begin < text_.size() && IsBlank(text_[begin])) ++begin;
    text_.remove_prefix(begin);
    size_t size = 0;
    while (size < text_.size() && !IsBlank(text_[size])) ++size;
    return Take(size);
  }

  // Skips the next word. Returns nullopt if it does not begin with a number that fits.
  std::optional<uint64_t> Number() noexcept {
    const std::string_view word = Word();
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (word.empty() || error != std::errc() || end == word.data()) return std::nullopt;
    return number;
  }

  // Returns the rest of the line without its line feed.
  std::string_view Line() noexcept {
    const std::string_view line = Take(text_.find('\n'));
    if (!text_.empty()) text_.remove_prefix(1);
    return line;
  }

 private:
  // Faster than string_view::find_first_of(), which makes a call per character.
  static bool IsBlank(char c) noexcept { return c == ' ' || c == '\n' || c == '\t'; }
  std::string_view Take(size_t size) noexcept {
    const std::string_view taken = text_.substr(0, size);
    text_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view text_;
};

// A number that follows `name`: TakeNamed() stores it in `value`, multiplied by `unit`.
struct NamedNumber {
  std::string_view name;
  Counter* value;
  uint64_t unit = 1;
};

// Parses lines "NAME NUMBER" and "NAME: NUMBER". Values whose names do not occur are reset.
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

// Parses a core list, "0-3,8", into the order written. Skips malformed parts.
inline std::vector<int> ParseCoreList(std::string_view text) {
  constexpr uint64_t kMost = 1 << 16;
  std::vector<int> cores;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const size_t dash = part.find('-');
    const auto first = Scanner(part.substr(0, dash)).Number();
    const auto last =
        dash == std::string_view::npos ? first : Scanner(part.substr(dash + 1)).Number();
    if (!first || !last || *last >= kMost) continue;
    for (uint64_t core = *first; core <= *last; ++core) cores.push_back(static_cast<int>(core));
  }
  return cores;
}

inline uint64_t TicksToNs(uint64_t ticks) noexcept {
  static const uint64_t ns = 1'000'000'000 / static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  return ticks * ns;
}

inline Counter TicksToNs(const Counter& ticks) noexcept {
  return ticks ? Counter(TicksToNs(*ticks)) : ticks;
}

}  // namespace recpack::probe

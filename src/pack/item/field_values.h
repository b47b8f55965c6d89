// Parses feature values given as text.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace recpack::pack {

inline std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Parses a decimal integer with an optional sign. Returns nullopt if it is not one or overflows.
inline std::optional<int64_t> ParseInt64(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// Tells whether the text is a decimal integer of any size.
inline bool IsWholeNumber(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Tells whether the text is a decimal integer beyond 2^53 either way, which double does not count
// by ones, let alone float.
inline bool IsBeyondDouble(std::string_view text) {
  constexpr int64_t kMost = int64_t{1} << 53;
  const auto value = ParseInt64(text);
  return value ? *value > kMost || *value < -kMost : IsWholeNumber(text);
}

// Tells whether the text is a finite nonzero number that rounds to 0 or infinity as a float.
inline bool IsBeyondFloat(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value == 0) return false;
  const auto rounded = static_cast<float>(value);
  return rounded == 0 || !std::isfinite(rounded);
}

// Parses a number and rounds it to float; values beyond the range of float become infinity.
inline std::optional<float> ParseFloat(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return static_cast<float>(value);
}

}  // namespace recpack::pack

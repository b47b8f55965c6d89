// String formatting: the only header that includes fmt, and quantities for people.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

namespace recpack {

// A function object, not a function: it suppresses argument-dependent lookup, which would also find
// std::format().
struct Formatter {
  template <typename... Args>
  std::string operator()(fmt::format_string<Args...> text, Args&&... args) const {
    return fmt::format(text, std::forward<Args>(args)...);
  }
};
inline constexpr Formatter format;

// "812 B", "61.4 MB": decimal units.
std::string BytesText(double bytes);
inline std::string BytesText(uint64_t bytes) { return BytesText(static_cast<double>(bytes)); }

// "1,234,567".
std::string CountText(uint64_t count);

// Formats a length of time: "0.54 s", "38 s", "14 min", "3.2 h".
std::string DurationText(double seconds);

// Formats a share of 1: 0.123 as "12.3 %".
std::string Percent(double share, int decimals = 1);

}  // namespace recpack

// String formatting. The only file that includes fmt.
#pragma once

#include <fmt/format.h>

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

}  // namespace recpack

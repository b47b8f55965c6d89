// The one place that includes fmt.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace recpack {

// An object, not a function: no overload is then looked for in the namespaces of the arguments,
// where std::format() would be found beside it.
struct Formatter {
  template <typename... Args>
  std::string operator()(fmt::format_string<Args...> text, Args&&... args) const {
    return fmt::format(text, std::forward<Args>(args)...);
  }
};
inline constexpr Formatter format;

}  // namespace recpack

// Makes paths from the user absolute.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "src/remote/url/url.h"

namespace recpack::python {

// Returns the path made absolute, since the program may change its working directory before the
// path is used. A path that cannot be made absolute stays unchanged and fails when it is used; an
// empty path too.
inline std::string Absolute(const std::string& path) {
  if (remote::IsUrl(path)) return path;
  std::error_code code;
  const std::filesystem::path absolute = std::filesystem::absolute(path, code);
  return code ? path : absolute.string();
}

// The same for paths that may be patterns. A pattern stays unchanged if the working directory's
// name would be taken as part of one.
inline std::string AbsolutePattern(const std::string& path) {
  const std::string absolute = Absolute(path);
  const std::string folder = absolute.substr(0, absolute.size() - path.size());
  std::error_code code;
  const bool means_itself = folder.find_first_of("*?[]{}\\") == std::string::npos;
  return means_itself || std::filesystem::exists(path, code) ? absolute : path;
}

}  // namespace recpack::python

// Paths that a program gave.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace recpack::python {

// What it means now: the program may change its folder before the path is used. What cannot be made
// absolute stays, and fails where it is made use of; so does nothing at all.
inline std::string Absolute(const std::string& path) {
  std::error_code code;
  const std::filesystem::path absolute = std::filesystem::absolute(path, code);
  return code ? path : absolute.string();
}

// The same of what may be a pattern. Where the folder's own name would be taken for a part of one,
// a pattern stays as it is.
inline std::string AbsolutePattern(const std::string& path) {
  const std::string absolute = Absolute(path);
  const std::string folder = absolute.substr(0, absolute.size() - path.size());
  std::error_code code;
  const bool means_itself = folder.find_first_of("*?[]{}\\") == std::string::npos;
  return means_itself || std::filesystem::exists(path, code) ? absolute : path;
}

}  // namespace recpack::python

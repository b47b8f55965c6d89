// Paths as users type them.
#pragma once

#include <filesystem>
#include <string>

namespace recpack {

// Absolute, without "." and "..", and without a slash at its end: what is in the file system does
// not matter, and filename() is the last part's name, of "/" alone nothing.
inline std::filesystem::path PlainPath(const std::string& path) {
  std::filesystem::path plain = std::filesystem::absolute(path).lexically_normal();
  return plain.has_filename() ? plain : plain.parent_path();
}

}  // namespace recpack

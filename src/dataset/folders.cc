#include "src/dataset/folders.h"

#include "recpack/base/error.h"

namespace recpack {

namespace fs = std::filesystem;

void MakeFolder(const std::string& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) throw SystemError("cannot make the folder", path, code.value());
}

fs::file_status StatusOf(const std::string& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::none) throw SystemError("cannot look at", path, code.value());
  return status;
}

}  // namespace recpack

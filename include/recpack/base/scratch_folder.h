// A folder for what is needed for a moment.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "recpack/base/error.h"

namespace recpack {

// Made under TMPDIR or /tmp; removed with all in it when the object goes. The constructor throws
// Error (kNotFound, kIo).
class ScratchFolder {
 public:
  ScratchFolder() {
    const char* const folder = std::getenv("TMPDIR");
    path_ = folder == nullptr || *folder == '\0' ? "/tmp" : folder;
    path_ += "/recpack-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) throw SystemError("cannot make a folder", path_, errno);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace recpack

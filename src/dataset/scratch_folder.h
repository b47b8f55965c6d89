// A folder for what is needed for a moment.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "recpack/base/error.h"

namespace recpack {

// Made under TMPDIR or /tmp; removed with all in it when the object goes.
class ScratchFolder {
 public:
  ScratchFolder() : path_((std::filesystem::temp_directory_path() / "recpack-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw SystemError("cannot make a folder", path_, errno);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace recpack

#include "src/pack/store/hole.h"

#include <filesystem>
#include <system_error>

#include "recpack/base/error.h"
#include "recpack/base/file.h"

namespace recpack::pack {

void MakeHole(const std::string& path, uint64_t bytes) {
  PosixFiles().Create(path)->Close();
  std::error_code failed;
  std::filesystem::resize_file(path, bytes, failed);
  if (failed) {
    throw Error(ErrorKind::kIo, "cannot set the size: " + failed.message(), {.path = path});
  }
}

}  // namespace recpack::pack

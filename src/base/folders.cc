#include "recpack/base/folders.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "recpack/base/descriptor.h"
#include "recpack/base/error.h"

namespace recpack {

namespace fs = std::filesystem;

void MakeFolder(const std::string& path, bool durable) {
  std::vector<fs::path> missing;
  if (durable) {
    for (fs::path at = path; !at.empty() && !fs::exists(FileStatus(at)); at = at.parent_path()) {
      missing.push_back(at);
    }
  }
  std::error_code code;
  fs::create_directories(path, code);
  if (code) throw SystemError("cannot make the folder", path, code.value());
  for (const fs::path& made : missing) SyncFolder(made.parent_path());
}

fs::file_status FileStatus(const std::string& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::none) throw SystemError("cannot stat", path, code.value());
  return status;
}

void SyncFolder(const std::string& folder) {
  const std::string path = folder.empty() ? "." : folder;
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) throw SystemError("cannot open", path, errno);
  if (::fsync(fd.get()) != 0) throw SystemError("cannot sync", path, errno);
}

}  // namespace recpack

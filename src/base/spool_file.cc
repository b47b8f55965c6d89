#include "src/base/spool_file.h"

#include <fcntl.h>
#include <stdlib.h>

#include <cerrno>

#include "recpack/base/error.h"
#include "recpack/base/file.h"

namespace recpack {
namespace {

std::string FolderOrDefault(std::string folder) {
  if (!folder.empty()) return folder;
  const char* temporary = ::getenv("TMPDIR");
  return temporary != nullptr && temporary[0] != '\0' ? temporary : "/tmp";
}

int OpenNameless(const std::string& folder) {
#ifdef O_TMPFILE
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
#endif
  std::string name = folder + "/recpack-spool-XXXXXX";
  const int named = ::mkstemp(name.data());
  if (named < 0) throw SystemError("cannot make a temporary file in", folder, errno);
  ::unlink(name.c_str());
  ::fcntl(named, F_SETFD, FD_CLOEXEC);
  return named;
}

}  // namespace

SpoolFile::SpoolFile(std::string folder)
    : folder_(FolderOrDefault(std::move(folder))), fd_(OpenNameless(folder_)) {}

void SpoolFile::Append(ByteView bytes) {
  if (!WriteFully(fd_.get(), bytes, size_)) {
    throw SystemError("cannot write a temporary file in", folder_, errno);
  }
  size_ += bytes.size();
}

size_t SpoolFile::ReadAt(uint64_t offset, std::span<uint8_t> out) const {
  const int64_t got = ReadFully(fd_.get(), out, offset);
  if (got < 0) throw SystemError("cannot read a temporary file in", folder_, errno);
  return static_cast<size_t>(got);
}

SpoolFile& SpoolPool::Take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    spools_.push_back(std::make_unique<SpoolFile>(folder_));
    return *spools_.back();
  }
  SpoolFile& spool = *free_.back();
  free_.pop_back();
  return spool;
}

void SpoolPool::GiveBack(SpoolFile& spool) {
  const std::lock_guard lock(mutex_);
  free_.push_back(&spool);
}

}  // namespace recpack

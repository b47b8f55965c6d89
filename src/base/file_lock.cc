#include "recpack/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "recpack/base/error.h"

namespace recpack {
namespace {

Descriptor OpenLock(const std::string& path) {
  Descriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (fd.get() < 0) throw SystemError("cannot open the lock", path, errno);
  return fd;
}

}  // namespace

std::optional<Descriptor> TryLock(const std::string& path, bool shared) {
  Descriptor fd = OpenLock(path);
  if (::flock(fd.get(), (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) return fd;
  if (errno == EWOULDBLOCK) return {};
  throw SystemError("cannot lock", path, errno);
}

Descriptor WaitForLock(const std::string& path) {
  Descriptor fd = OpenLock(path);
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) throw SystemError("cannot lock", path, errno);
  }
  return fd;
}

}  // namespace recpack

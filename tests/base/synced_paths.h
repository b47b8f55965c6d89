// Recording of the files and folders that a program syncs. Defines fsync() for the program: include
// it in one source file only.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <string>

namespace recpack {

struct SyncListener {
  std::mutex mutex;
  std::set<std::string>* paths = nullptr;  // set while a test records
};
inline SyncListener sync_listener;

// Returns the paths that `work` syncs.
inline std::set<std::string> SyncedBy(const std::function<void()>& work) {
  std::set<std::string> paths;
  const auto listen = [](std::set<std::string>* to) {
    const std::lock_guard lock(sync_listener.mutex);
    sync_listener.paths = to;
  };
  listen(&paths);
  work();
  listen(nullptr);
  return paths;
}

}  // namespace recpack

// Takes precedence over the C library's fsync().
extern "C" int fsync(int fd) {
  {
    const std::lock_guard lock(recpack::sync_listener.mutex);
    if (recpack::sync_listener.paths != nullptr) {
      recpack::sync_listener.paths->insert(
          std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd)));
    }
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

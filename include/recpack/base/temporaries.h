// Temporary files and folders: removal on destruction, and clean-up after killed writers.
#pragma once

#include <functional>
#include <string>
#include <utility>

namespace recpack {

// Removes the temporary files NAME.tmp and NAME.tmp-PID (the latter made by WriteFileAtomically())
// for which is_stale(NAME) is true from a folder. Throws Error (kIo).
void RemoveTemporaries(const std::string& folder,
                       const std::function<bool(const std::string& name)>& is_stale);

// Removes the file on destruction, unless Keep() was called. The file need not exist.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}

  const std::string& path() const noexcept { return path_; }
  void Keep() noexcept { path_.clear(); }

 private:
  std::string path_;
};

// Temporary folder under TMPDIR or /tmp; removed with its contents by the destructor. The
// constructor throws Error (kNotFound, kIo).
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace recpack

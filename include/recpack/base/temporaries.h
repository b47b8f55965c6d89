// Files that are not renamed into place yet, or were left so by a killed writer.
#pragma once

#include <functional>
#include <string>
#include <utility>

namespace recpack {

// Removes the temporary files NAME.tmp and NAME.tmp-PID (WriteFileAtomically() makes the latter)
// from a folder, where `is_stale` says so of NAME. Throws Error (kIo).
void RemoveTemporaries(const std::string& folder,
                       const std::function<bool(const std::string& name)>& is_stale);

// Removes the file when it is destroyed, unless Keep() was called; one that is not there is fine.
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

}  // namespace recpack

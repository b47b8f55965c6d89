// Reader for small kernel files that are polled: keeps them open, as opening costs more than
// reading.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recpack/base/descriptor.h"

namespace recpack::probe {

// State shared by the files of one sampler: the number of open files and the read buffer.
struct KeptFiles {
  int open = 0;
  int max_open = 0;
  std::vector<char> text = std::vector<char>(size_t{1} << 16);
};

class KeptFile {
 public:
  // kOneRead: the kernel returns the whole file in one read that has room for it.
  enum class Size { kOneRead, kAny };

  // `files` must outlive this object.
  KeptFile(KeptFiles* files, std::string path, Size size = Size::kAny)
      : files_(files), path_(std::move(path)), size_(size) {}
  ~KeptFile() { Close(); }
  KeptFile(KeptFile&& other) noexcept
      : files_(other.files_),
        path_(std::move(other.path_)),
        size_(other.size_),
        file_(std::move(other.file_)),
        error_(other.error_) {}
  KeptFile& operator=(KeptFile&& other) noexcept {
    std::swap(files_, other.files_);
    std::swap(path_, other.path_);
    std::swap(size_, other.size_);
    std::swap(file_, other.file_);
    std::swap(error_, other.error_);
    return *this;
  }

  const std::string& path() const noexcept { return path_; }

  // Returns the current contents, valid until another file of `files` is read, or nullopt if that
  // failed; see error().
  std::optional<std::string_view> Read();

  // Returns errno of the last Read() that failed.
  int error() const noexcept { return error_; }

 private:
  void Close() noexcept;

  KeptFiles* files_;
  std::string path_;
  Size size_;
  Descriptor file_;
  int error_ = 0;
};

}  // namespace recpack::probe

// Reading files in order.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "recpack/base/error.h"
#include "src/ceiling/timed.h"

namespace recpack {
namespace {

constexpr size_t kCall = size_t{1} << 20;
constexpr size_t kCachedCall = size_t{1} << 17;  // what is copied stays in the cache
constexpr size_t kAlignment = 4096;              // of what direct access reads

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

// Reads one file after another.
class Files {
 public:
  Files(std::span<const std::string> paths, FileAccess access, size_t first)
      : paths_(paths),
        flags_(O_RDONLY | O_CLOEXEC | (access == FileAccess::kDirect ? O_DIRECT : 0)),
        call_(access == FileAccess::kDirect ? kCall : kCachedCall),
        next_(first),
        buffer_(std::aligned_alloc(kAlignment, kCall)) {}
  ~Files() { Close(); }
  Files(const Files&) = delete;

  double Read() {
    for (size_t empty = 0; empty <= paths_.size(); ++empty) {
      if (file_ < 0) Open();
      const ssize_t got = ::pread(file_, buffer_.get(), call_, offset_);
      if (got < 0 && errno != EINTR) throw SystemError("cannot read", path_, errno);
      if (got > 0) {
        offset_ += got;
        return static_cast<double>(got);
      }
      Close();
    }
    throw Error(ErrorKind::kInvalidArgument, "the files are empty");
  }

 private:
  void Open() {
    path_ = paths_[next_++ % paths_.size()];
    offset_ = 0;
    file_ = ::open(path_.c_str(), flags_);
    if (file_ < 0) throw SystemError("cannot open", path_, errno);
  }
  void Close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }

  const std::span<const std::string> paths_;
  const int flags_;
  const size_t call_;
  size_t next_;
  std::unique_ptr<void, Free> buffer_;
  std::string path_;
  int file_ = -1;
  off_t offset_ = 0;
};

}  // namespace

Rate ReadCeiling(std::span<const std::string> files, FileAccess access,
                 const CeilingOptions& options) {
  if (files.empty()) return {.unavailable = "there are no files"};
  return Timed(options, [files, access](size_t thread) -> Work {
    const auto own = std::make_shared<Files>(files, access, thread);
    return [own] { return own->Read(); };
  });
}

}  // namespace recpack

// Ceiling of sequential reads.
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "recpack/base/error.h"
#include "src/ceiling/cold_files.h"
#include "src/ceiling/timed.h"

namespace recpack::ceiling {
namespace {

constexpr size_t kCall = size_t{1} << 20;
constexpr size_t kApart = size_t{16} << 20;
constexpr size_t kCachedCall = size_t{1} << 17;  // bytes per call; small enough for the CPU cache

// Reads the files one after another.
class Files {
 public:
  Files(std::span<const std::string> paths, FileAccess access, size_t first)
      : paths_(paths),
        access_(access),
        call_(access == FileAccess::kCached ? kCachedCall : kCall),
        next_(first),
        ahead_(first < paths.size() ? 0 : first),
        buffer_(AllocateAligned(kCall)) {}

  double Read() {
    for (size_t empty = 0; empty <= paths_.size(); ++empty) {
      if (file_.get() < 0) Open();
      const ssize_t got = ::pread(file_.get(), buffer_.get(), call_, offset_);
      if (got < 0) throw SystemError("cannot read", path_, errno);
      // Direct reads return multiples of the alignment, except at the end of the file.
      if (got <= 0 || got % static_cast<ssize_t>(kDirectAlignment) != 0) file_ = Descriptor();
      offset_ += got;
      if (got > 0) return static_cast<double>(got);
    }
    throw Error(ErrorKind::kInvalidArgument, "the files are empty");
  }

 private:
  void Open() {
    path_ = paths_[next_++ % paths_.size()];
    file_ = OpenFor(access_, path_);
    offset_ = static_cast<off_t>(ahead_ * kApart);
    ahead_ = 0;
  }

  const std::span<const std::string> paths_;
  const FileAccess access_;
  const size_t call_;
  size_t next_;
  size_t ahead_;  // start offset, which differs between threads that start with the same file
  AlignedMemory buffer_;
  std::string path_;
  Descriptor file_;
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

}  // namespace recpack::ceiling

#include "src/ceiling/cold_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/random.h"
#include "src/ceiling/timed.h"

namespace recpack::ceiling {
namespace {

constexpr double kCold = 0.05;  // fraction of a dropped file that may remain in memory

double ResidentShare(int file, size_t bytes) {
  if (bytes == 0) return 0;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return 1;
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident((bytes + page - 1) / page);
  const int code = ::mincore(memory, bytes, resident.data());
  ::munmap(memory, bytes);
  if (code != 0) return 1;
  size_t count = 0;
  for (const unsigned char each : resident) count += each & 1U;
  return static_cast<double>(count) / static_cast<double>(resident.size());
}

size_t FileSize(int file, const std::string& path) {
  struct stat status = {};
  if (::fstat(file, &status) != 0) throw SystemError("cannot stat", path, errno);
  return static_cast<size_t>(status.st_size);
}

void Drop(int file, const std::string& path) {
  ::fdatasync(file);  // dirty pages cannot be dropped
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  if (ResidentShare(file, FileSize(file, path)) <= kCold) return;
  throw Error(ErrorKind::kUnsupported, "stays in memory: its file system does not drop pages",
              {.path = path}, "put the data on a disk to measure it");
}

// Reads pieces at random offsets, from each file in turn.
class Pieces {
 public:
  Pieces(std::span<const std::string> paths, FileAccess access, size_t bytes, uint32_t thread)
      : bytes_(bytes), random_(0, thread, 0), buffer_(AllocateAligned(bytes)) {
    for (const std::string& path : paths) {
      Descriptor file = OpenFor(access, path);
      const size_t pieces = FileSize(file.get(), path) / bytes;
      if (pieces > 0) files_.push_back({std::move(file), path, pieces});
    }
    if (files_.empty()) throw Error(ErrorKind::kInvalidArgument, "the files are too small");
  }

  double Read() {
    const File& file = files_[random_.NextBelow(static_cast<uint32_t>(files_.size()))];
    const auto piece = static_cast<off_t>(random_.NextU64() % file.pieces);
    const ssize_t got =
        ::pread(file.file.get(), buffer_.get(), bytes_, piece * static_cast<off_t>(bytes_));
    if (got < 0 && errno != EINTR) throw SystemError("cannot read", file.path, errno);
    return 1;
  }

 private:
  struct File {
    Descriptor file;
    std::string path;
    size_t pieces;
  };

  const size_t bytes_;
  KeyedRandom random_;
  AlignedMemory buffer_;
  std::vector<File> files_;
};

}  // namespace

Descriptor OpenFor(FileAccess access, const std::string& path) {
  const int direct = access == FileAccess::kDirect ? O_DIRECT : 0;
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | direct));
  if (file.get() < 0 && direct != 0 && errno == EINVAL) {
    throw Error(ErrorKind::kUnsupported, "its file system has no direct access (O_DIRECT)",
                {.path = path});
  }
  if (file.get() < 0) throw SystemError("cannot open", path, errno);
  if (access == FileAccess::kDropped) Drop(file.get(), path);
  return file;
}

Rate RandomReadCeiling(std::span<const std::string> files, size_t bytes, FileAccess access,
                       const CeilingOptions& options) {
  if (files.empty()) return {.unavailable = "there are no files"};
  return Timed(options, [=](size_t thread) -> Work {
    const auto own = std::make_shared<Pieces>(files, access, bytes, static_cast<uint32_t>(thread));
    return [own] { return own->Read(); };
  });
}

}  // namespace recpack::ceiling

#include "recpack/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "recpack/base/descriptor.h"
#include "recpack/base/error.h"
#include "recpack/base/folders.h"
#include "src/base/format.h"

namespace recpack {
namespace {

// Maximum size of one pread or write: Linux limits a call to just under 2 GiB.
constexpr size_t kMaxTransfer = size_t{1} << 30;

int OpenOrThrow(const std::string& path, int flags, const char* what) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (fd < 0) throw SystemError(what, path, errno);
  return fd;
}

uint64_t FileSize(int fd, const std::string& path) {
  struct stat status;
  if (::fstat(fd, &status) != 0) throw SystemError("cannot stat", path, errno);
  if (S_ISDIR(status.st_mode)) throw SystemError("cannot read", path, EISDIR);
  return static_cast<uint64_t>(status.st_size);
}

// Refuses pipes, sockets and devices: a pipe could block its reader forever, and a device may have
// no end.
void RefuseSpecial(int fd, const std::string& path) {
  struct stat status;
  if (::fstat(fd, &status) != 0) throw SystemError("cannot stat", path, errno);
  if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return;
  const char* kind = S_ISFIFO(status.st_mode)   ? "a pipe"
                     : S_ISSOCK(status.st_mode) ? "a socket"
                                                : "a device";
  throw Error(ErrorKind::kIo, format("is {}, and only regular files can be read here", kind),
              {.path = path}, "write its contents into a file first");
}

// Opens a regular file. A directory can be opened, but fails when it is read.
int OpenToRead(const std::string& path) {
  // O_NONBLOCK: open() would block on a pipe without a writer.
  Descriptor fd(OpenOrThrow(path, O_RDONLY | O_NONBLOCK, "cannot open"));
  RefuseSpecial(fd.get(), path);
  return fd.Release();
}

class PosixReadableFile final : public ReadableFile {
 public:
  explicit PosixReadableFile(const std::string& path) : path_(path), fd_(OpenToRead(path)) {}

  size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    const int64_t got = ReadFully(fd_.get(), out, offset);
    if (got < 0) throw SystemError("cannot read", path_, errno);
    return static_cast<size_t>(got);
  }

  void WillNeed(uint64_t offset, uint64_t size) const noexcept override {
    ::posix_fadvise(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(size),
                    POSIX_FADV_WILLNEED);
  }
  uint64_t Size() const override { return FileSize(fd_.get(), path_); }
  int descriptor() const noexcept override { return fd_.get(); }
  const std::string& path() const noexcept override { return path_; }

 private:
  std::string path_;
  Descriptor fd_;
};

class PosixWritableFile final : public WritableFile {
 public:
  explicit PosixWritableFile(const std::string& path)
      : path_(path), fd_(OpenOrThrow(path, O_WRONLY | O_CREAT | O_TRUNC, "cannot create")) {}

  void Write(ByteView bytes) override {
    while (!bytes.empty()) {
      const ssize_t put = ::write(fd_.get(), bytes.data(), std::min(bytes.size(), kMaxTransfer));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) throw SystemError("cannot write", path_, errno);
      bytes = bytes.subspan(static_cast<size_t>(put));
      written_ += put;
    }
  }

  void StartSync() noexcept override {
    ::sync_file_range(fd_.get(), started_, written_ - started_, SYNC_FILE_RANGE_WRITE);
    started_ = written_;
  }

  void Sync() override {
    if (::fdatasync(fd_.get()) != 0) throw SystemError("cannot sync", path_, errno);
  }

  void Close() override {
    const int fd = fd_.Release();
    if (fd >= 0 && ::close(fd) != 0) throw SystemError("cannot close", path_, errno);
  }

  const std::string& path() const noexcept override { return path_; }

 private:
  std::string path_;
  Descriptor fd_;
  off_t written_ = 0;
  off_t started_ = 0;  // bytes whose writeback StartSync() has started
};

class PosixFileSystem final : public FileSystem {
 public:
  std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) override {
    return std::make_unique<PosixReadableFile>(path);
  }

  std::unique_ptr<WritableFile> Create(const std::string& path) override {
    return std::make_unique<PosixWritableFile>(path);
  }

  void Rename(const std::string& from, const std::string& to, bool durable) override {
    if (::rename(from.c_str(), to.c_str()) != 0) throw SystemError("cannot rename to", to, errno);
    if (durable) SyncFolder(std::filesystem::path(to).parent_path());
  }

  void Remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0) throw SystemError("cannot remove", path, errno);
  }

  bool Exists(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }
};

// Tells whether the path is a device or a pipe, such as /dev/stdout: a rename would replace it.
bool IsSpecial(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

int64_t ReadFully(int fd, std::span<uint8_t> out, uint64_t offset) noexcept {
  size_t done = 0;
  while (done < out.size()) {
    const size_t want = std::min(out.size() - done, kMaxTransfer);
    const ssize_t got = ::pread(fd, out.data() + done, want, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return static_cast<int64_t>(done);
}

bool WriteFully(int fd, ByteView bytes, uint64_t offset) noexcept {
  while (!bytes.empty()) {
    const size_t want = std::min(bytes.size(), kMaxTransfer);
    const ssize_t put = ::pwrite(fd, bytes.data(), want, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(put));
    offset += static_cast<uint64_t>(put);
  }
  return true;
}

FileSystem& PosixFiles() {
  static PosixFileSystem files;
  return files;
}

ByteBuffer ReadWholeFile(FileSystem& files, const std::string& path, uint64_t max_bytes) {
  const auto file = files.OpenForReading(path);
  const uint64_t size = file->Size();
  if (size > max_bytes) {
    throw Error(ErrorKind::kInvalidArgument,
                format("is {} bytes long, more than the {} expected here at most", size, max_bytes),
                {.path = path});
  }
  ByteBuffer bytes(size);
  bytes.resize(file->ReadAt(0, bytes));
  return bytes;
}

void WriteFileAtomically(FileSystem& files, const std::string& path, ByteView bytes, bool durable) {
  WritePiecesAtomically(
      files, path, [&](WritableFile& file) { file.Write(bytes); }, durable);
}

void WritePiecesAtomically(FileSystem& files, const std::string& path,
                           const std::function<void(WritableFile&)>& write, bool durable) {
  if (IsSpecial(path)) {
    const auto file = files.Create(path);
    write(*file);
    return file->Close();
  }
  const std::string temporary = format("{}.tmp-{}", path, ::getpid());
  try {
    const auto file = files.Create(temporary);
    write(*file);
    if (durable) file->Sync();
    file->Close();
    files.Rename(temporary, path, durable);
  } catch (const Error& error) {
    ::unlink(temporary.c_str());
    throw error.At({.path = path});
  }
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const Descriptor fd(OpenToRead(path));
  const uint64_t size = FileSize(fd.get(), path);
  if (size == 0) return;
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (start == MAP_FAILED) throw SystemError("cannot map", path, errno);
  bytes_ = {static_cast<const uint8_t*>(start), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace recpack

#include "src/remote/store/download.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "recpack/base/descriptor.h"
#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/file_lock.h"
#include "recpack/base/folders.h"
#include "recpack/base/hash.h"
#include "src/base/format.h"
#include "src/remote/store/object.h"

namespace recpack::remote {
namespace {

constexpr size_t kChunk = 4 << 20;  // bytes of a request

// A file that grows, and the digest of what it holds.
class PartFile {
 public:
  explicit PartFile(const std::string& path)
      : path_(path), fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (fd_.get() < 0) Fail("open");
    ByteBuffer buffer(kChunk);
    for (;;) {
      const int64_t got = ReadFully(fd_.get(), buffer, bytes_);
      if (got < 0) Fail("read");
      if (got == 0) return;
      digest_.Update(ByteView(buffer).first(static_cast<size_t>(got)));
      bytes_ += static_cast<uint64_t>(got);
    }
  }

  uint64_t bytes() const noexcept { return bytes_; }

  void Append(ByteView bytes) {
    digest_.Update(bytes);
    if (!WriteFully(fd_.get(), bytes, bytes_)) Fail("write");
    bytes_ += bytes.size();
  }

  std::string Finish() {
    if (::fsync(fd_.get()) != 0) Fail("fsync");
    return Hex(digest_.Finish());
  }

 private:
  [[noreturn]] void Fail(const char* call) const {
    throw Error(ErrorKind::kIo, format("{}: {}", call, std::strerror(errno)), {.path = path_});
  }

  const std::string path_;
  Descriptor fd_;
  uint64_t bytes_ = 0;
  Sha256 digest_;
};

}  // namespace

void DownloadFile(const Download& download, const std::string& path,
                  const std::function<void(uint64_t bytes, uint64_t total)>& progress) {
  if (PosixFiles().Exists(path)) return;
  MakeFolder(std::filesystem::path(path).parent_path());
  const Descriptor lock = WaitForLock(path + ".lock");
  if (PosixFiles().Exists(path)) return;  // another process was faster
  const std::string part_path = path + ".part";
  const Object object(download.url);
  std::error_code ignored;
  if (std::filesystem::file_size(part_path, ignored) > object.size() && !ignored) {
    std::filesystem::remove(part_path);
  }
  PartFile part(part_path);
  ByteBuffer chunk;
  while (part.bytes() < object.size()) {
    if (progress) progress(part.bytes(), object.size());
    chunk.resize(static_cast<size_t>(std::min<uint64_t>(kChunk, object.size() - part.bytes())));
    object.Fetch(part.bytes(), chunk);
    part.Append(chunk);
  }
  if (progress) progress(part.bytes(), object.size());
  const std::string sha256 = part.Finish();
  if (sha256 != download.sha256) {
    std::filesystem::remove(part_path);
    throw Error(ErrorKind::kCorrupt,
                format("the file of {} bytes has the SHA-256 {}, not {}", object.size(), sha256,
                       download.sha256),
                {.path = WithoutSecrets(download.url)},
                "try again; if it stays so, get the file by other means and name its path");
  }
  std::filesystem::rename(part_path, path);
  std::filesystem::remove(path + ".lock", ignored);
}

}  // namespace recpack::remote

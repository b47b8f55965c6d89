#include "src/remote/store/data_files.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "recpack/base/error.h"
#include "src/remote/store/object.h"
#include "src/remote/store/remote_file.h"
#include "src/remote/url/url.h"

namespace recpack::remote {
namespace {

class AllFiles final : public FileSystem {
 public:
  std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) override {
    if (!IsUrl(path)) return PosixFiles().OpenForReading(path);
    auto seen = TakeSeen(path);
    return std::make_unique<RemoteFile>(seen ? seen : std::make_shared<const Object>(path));
  }

  std::unique_ptr<WritableFile> Create(const std::string& path) override {
    RefuseWriting(path);
    return PosixFiles().Create(path);
  }

  void Rename(const std::string& from, const std::string& to, bool durable) override {
    RefuseWriting(to);
    PosixFiles().Rename(from, to, durable);
  }

  void Remove(const std::string& path) override {
    RefuseWriting(path);
    PosixFiles().Remove(path);
  }

  bool Exists(const std::string& path) override {
    if (!IsUrl(path)) return PosixFiles().Exists(path);
    try {
      auto object = std::make_shared<const Object>(path);
      const std::lock_guard lock(mutex_);
      seen_ = std::move(object);
      return true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kNotFound) return false;
      throw;
    }
  }

  bool CanMap(const std::string& path) const override { return !IsUrl(path); }

 private:
  // Returns the object if Exists() saw it just now: the question and the answer cost one request.
  std::shared_ptr<const Object> TakeSeen(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (!seen_ || seen_->path() != path) return nullptr;
    return std::exchange(seen_, nullptr);
  }

  static void RefuseWriting(const std::string& path) {
    if (!IsUrl(path)) return;
    throw Error(ErrorKind::kUnsupported, "objects cannot be written",
                {.path = WithoutSecrets(path)}, "write to a folder, and upload that");
  }

  std::mutex mutex_;
  std::shared_ptr<const Object> seen_;  // guarded by mutex_
};

}  // namespace

FileSystem& DataFiles() {
  static auto* const files = new AllFiles;
  return *files;
}

std::optional<uint64_t> FileBytes(const std::string& path) {
  if (!IsUrl(path)) {
    std::error_code unknown;
    const uint64_t size = std::filesystem::file_size(path, unknown);
    return unknown ? std::nullopt : std::optional(size);
  }
  try {
    return Object(path).size();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace recpack::remote

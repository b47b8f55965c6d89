#include "src/remote/store/data_files.h"

#include "recpack/base/error.h"
#include "src/remote/store/remote_file.h"
#include "src/remote/url/url.h"

namespace recpack::remote {
namespace {

class AllFiles final : public FileSystem {
 public:
  std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) override {
    if (!IsUrl(path)) return PosixFiles().OpenForReading(path);
    return std::make_unique<RemoteFile>(path);
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
      const RemoteFile file(path);
      return true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kNotFound) return false;
      throw;
    }
  }

  bool CanMap(const std::string& path) const override { return !IsUrl(path); }

 private:
  static void RefuseWriting(const std::string& path) {
    if (!IsUrl(path)) return;
    throw Error(ErrorKind::kUnsupported, "objects cannot be written", {.path = WithoutSecrets(path)},
                "write to a folder, and upload that");
  }
};

}  // namespace

FileSystem& DataFiles() {
  static auto* const files = new AllFiles;
  return *files;
}

}  // namespace recpack::remote

#include "src/remote/store/data_files.h"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "recpack/base/error.h"
#include "src/remote/http/per_process.h"
#include "src/remote/http/reactor.h"
#include "src/remote/store/ahead_memory.h"
#include "src/remote/store/object.h"
#include "src/remote/store/remote_file.h"
#include "src/remote/url/url.h"

namespace recpack::remote {
namespace {

class AllFiles final : public FileSystem {
 public:
  std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) override {
    if (!IsUrl(path)) return PosixFiles().OpenForReading(path);
    auto object = TakeSeen(path);
    if (!object) object = std::make_shared<const Object>(path, TakeExpected(path));
    return std::make_unique<RemoteFile>(std::move(object));
  }

  void Expect(const std::string& url) {
    Opening& opening = opening_.Get();
    {
      const std::lock_guard lock(opening.mutex);
      if (opening.expected.size() >= kMostExpected || opening.expected.contains(url)) return;
    }
    auto exchange = std::make_shared<Exchange>(Object::TailRequest(url));
    {
      const std::lock_guard lock(opening.mutex);
      if (!opening.expected.try_emplace(url, exchange).second) return;
    }
    Reactor::Get().Start(std::move(exchange));
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
      Opening& opening = opening_.Get();
      const std::lock_guard lock(opening.mutex);
      opening.seen = std::move(object);
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
    Opening& opening = opening_.Get();
    const std::lock_guard lock(opening.mutex);
    if (!opening.seen || opening.seen->path() != path) return nullptr;
    return std::exchange(opening.seen, nullptr);
  }

  // Returns the exchange that Expect() began; nullptr: none.
  std::shared_ptr<Exchange> TakeExpected(const std::string& path) {
    Opening& opening = opening_.Get();
    const std::lock_guard lock(opening.mutex);
    const auto found = opening.expected.find(path);
    if (found == opening.expected.end()) return nullptr;
    auto exchange = std::move(found->second);
    opening.expected.erase(found);
    return exchange;
  }

  static void RefuseWriting(const std::string& path) {
    if (!IsUrl(path)) return;
    throw Error(ErrorKind::kUnsupported, "objects cannot be written",
                {.path = WithoutSecrets(path)}, "write to a folder, and upload that");
  }

  static constexpr size_t kMostExpected = 128;

  struct Opening {
    std::mutex mutex;
    // Guarded by mutex:
    std::shared_ptr<const Object> seen;
    std::map<std::string, std::shared_ptr<Exchange>> expected;  // by URL
  };

  PerProcess<Opening> opening_;
};

AllFiles& Files() {
  static auto* const files = new AllFiles;
  return *files;
}

}  // namespace

FileSystem& DataFiles() { return Files(); }

void WillOpen(const std::string& url) noexcept {
  try {
    Files().Expect(url);
  } catch (...) {  // NOLINT(bugprone-empty-catch): opening it reports errors
  }
}

void WillReadTogether(uint64_t bytes) noexcept { AheadMemory::Get().Ensure(bytes); }

uint64_t FetchAheadBytes() noexcept { return AheadMemory::Get().LimitOfLink(); }

std::string ObjectVersion(const ReadableFile& file) {
  const auto* const object = dynamic_cast<const RemoteFile*>(&file);
  return object != nullptr ? object->version() : "";
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

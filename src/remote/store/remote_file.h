// Objects read by ranges.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "recpack/base/file.h"
#include "src/remote/store/announced.h"
#include "src/remote/store/disk_cache.h"
#include "src/remote/store/object.h"

namespace recpack::remote {

// An object. Thread-safe. WillNeed() announces a range, which is fetched when the reactor has room,
// together with ranges next to it that were announced meanwhile. ReadAt() takes bytes of announced
// ranges, waiting if needed, and fetches others. All requests are for the version that was opened.
class RemoteFile final : public ReadableFile {
 public:
  // Throws Error: kNotFound; kIo; kUnsupported if the server has no ranges.
  explicit RemoteFile(const std::string& url) : RemoteFile(std::make_shared<const Object>(url)) {}
  explicit RemoteFile(std::shared_ptr<const Object> object)
      : object_(std::move(object)),
        name_(WithoutSecrets(object_->path())),
        // Objects no larger than the tail, which is fetched at each open, are not cached.
        cache_(object_->size() == object_->tail().size()
                   ? nullptr
                   : DiskCache::Open(name_, object_->version(), object_->size())),
        announced_(std::make_shared<Announced>(object_, cache_)) {}
  ~RemoteFile() override { announced_->End(); }

  size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override;
  size_t ReadAgain(uint64_t offset, std::span<uint8_t> out) const override;
  ByteView View(uint64_t offset, uint64_t size, std::shared_ptr<const void>& owner) const override;
  void WillNeed(uint64_t offset, uint64_t size) const noexcept override;
  uint64_t Size() const override { return object_->size(); }
  // The URL without secrets, as it is in messages.
  const std::string& path() const noexcept override { return name_; }
  const std::string& version() const noexcept { return object_->version(); }

 private:
  void Fetch(uint64_t offset, std::span<uint8_t> out) const;

  const std::shared_ptr<const Object> object_;
  const std::string name_;
  const std::shared_ptr<DiskCache> cache_;  // or null
  const std::shared_ptr<Announced> announced_;
};

}  // namespace recpack::remote

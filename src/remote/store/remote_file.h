// Objects read by ranges.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "recpack/base/file.h"
#include "src/remote/http/exchange.h"
#include "src/remote/store/service.h"
#include "src/remote/url/url.h"

namespace recpack::remote {

// An object. Thread-safe. WillNeed() starts to fetch a range; ReadAt() takes bytes of it, waiting if
// needed, and fetches what was not announced. All requests are for the version that was opened.
class RemoteFile final : public ReadableFile {
 public:
  // Fetches the last bytes, which tell size and version. Throws Error: kNotFound; kIo; kUnsupported
  // if the server has no ranges.
  explicit RemoteFile(const std::string& url);
  ~RemoteFile() override;

  size_t ReadAt(uint64_t offset, std::span<uint8_t> out) const override;
  void WillNeed(uint64_t offset, uint64_t size) const noexcept override;
  uint64_t Size() const override { return size_; }
  const std::string& path() const noexcept override { return path_; }

 private:
  // A range that was announced.
  struct Part;

  Request MakeRequest(uint64_t offset, uint64_t size) const;
  std::string RefuseRange(const Exchange& exchange, uint64_t offset, uint64_t size) const;
  void Fetch(uint64_t offset, std::span<uint8_t> out) const;
  std::shared_ptr<Part> FindPart(uint64_t offset) const;
  void Await(Part& part) const;
  void Use(const std::shared_ptr<Part>& part, uint64_t bytes) const;

  const std::string path_;
  const Url url_;
  const Service& service_;
  uint64_t size_ = 0;
  std::string version_;  // ETag; empty if the server has none
  ByteBuffer tail_;      // last bytes of the object

  mutable std::mutex mutex_;
  mutable std::list<std::shared_ptr<Part>> parts_;  // guarded by mutex_
};

}  // namespace recpack::remote

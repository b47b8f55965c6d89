// One version of an object: fetches its ranges.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "recpack/base/bytes.h"
#include "src/remote/http/exchange.h"
#include "src/remote/store/service.h"
#include "src/remote/url/url.h"

namespace recpack::remote {

// Immutable and thread-safe.
class Object {
 public:
  // Fetches the last bytes, which tell size and version. `first`: the exchange of TailRequest(),
  // under way, or null. Throws as RemoteFile().
  explicit Object(const std::string& url, std::shared_ptr<Exchange> first = nullptr);

  // Makes the request that an object begins with, signed for now.
  static Request TailRequest(const std::string& url);

  const std::string& path() const noexcept { return path_; }
  uint64_t size() const noexcept { return size_; }
  const std::string& version() const noexcept { return version_; }  // ETag; empty: unknown
  // The last bytes of the object; all of a small one.
  ByteView tail() const noexcept { return tail_; }

  // Header with which an object is written only in the place of this version. Throws Error
  // (kUnsupported) if the store tells no versions.
  std::pair<std::string, std::string> OnlyInItsPlace() const;

  // Makes the request for a range, signed for now.
  Request MakeRequest(uint64_t offset, uint64_t size) const;

  // Fetches a range, with retries. `first`: an exchange for it that is under way, or null. Throws
  // Error: kIo; kCorrupt if the object has changed.
  void Fetch(uint64_t offset, std::span<uint8_t> out,
             std::shared_ptr<Exchange> first = nullptr) const;
  // Fetches all of a small object. Throws as Fetch().
  ByteBuffer Content() const;

 private:
  std::string RefuseRange(const Exchange& exchange, uint64_t offset, uint64_t size) const;

  const std::string path_;
  const Url url_;
  const Service& service_;
  uint64_t size_ = 0;
  std::string version_;     // ETag; empty if the server has none
  std::string generation_;  // of gs://, where writes have no conditions on ETags
  ByteBuffer tail_;
};

}  // namespace recpack::remote

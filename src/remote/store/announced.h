// Ranges of an object that were announced, and are fetched ahead of their use.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "recpack/base/bytes.h"
#include "src/remote/http/exchange.h"
#include "src/remote/store/disk_cache.h"
#include "src/remote/store/object.h"

namespace recpack::remote {

// Thread-safe. Shared with the reactor, which calls back.
class Announced : public std::enable_shared_from_this<Announced> {
 public:
  // `cache`: keeps what was fetched; or null.
  Announced(std::shared_ptr<const Object> object, std::shared_ptr<DiskCache> cache)
      : process_(::getpid()), object_(std::move(object)), cache_(std::move(cache)) {}

  // Announces the parts of a range that are not announced yet. They are fetched when there is
  // memory for fetching ahead (AheadMemory), or when they are read.
  void Add(uint64_t offset, uint64_t size);

  // Copies what it has of the object from `offset` on; waits for it. Returns the number of bytes; 0
  // if the byte at `offset` was not announced. Throws as Object::Fetch().
  size_t Take(uint64_t offset, std::span<uint8_t> out);

  // Like Take(), but all `size` bytes, where they lie, which `owner` keeps alive; nothing if they
  // are not of one range.
  ByteView View(uint64_t offset, uint64_t size, std::shared_ptr<const void>& owner);

  // Returns when nothing writes to the ranges' memory any more. Nothing may be added afterwards.
  void End();

 private:
  struct Part;

  bool IsForked() const noexcept;
  void Queue(const std::shared_ptr<Part>& part, uint64_t reserved);
  std::shared_ptr<Exchange> Send(Part& part);
  void Await(const std::shared_ptr<Part>& part);
  void MarkUsed(const std::shared_ptr<Part>& part, uint64_t size);
  std::shared_ptr<Part> Find(uint64_t offset) const;
  std::shared_ptr<Part> AddGap(uint64_t offset, uint64_t size);
  void ForgetOld();

  const pid_t process_;
  const std::shared_ptr<const Object> object_;
  const std::shared_ptr<DiskCache> cache_;
  mutable std::mutex mutex_;
  // By offset; they do not overlap. Guarded by mutex_.
  std::map<uint64_t, std::shared_ptr<Part>> parts_;
  uint64_t parts_made_ = 0;   // guarded by mutex_
  uint64_t parts_ended_ = 0;  // guarded by mutex_
};

}  // namespace recpack::remote

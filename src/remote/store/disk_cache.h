// Cache of objects' bytes on a local disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "recpack/base/bytes.h"
#include "recpack/base/descriptor.h"

namespace recpack::remote {

// Size of the cache folder's contents.
struct DiskCacheUse {
  uint64_t objects = 0;
  uint64_t bytes = 0;  // on the disk
};

// Bytes of one version of an object that were fetched before, by any process of this machine, in
// blocks of 256 bytes. They lie in the folder `data` of the cache folder, in two files: a sparse
// copy of the object, and a bit for each of its blocks, which is set once the block is written. A
// process that is killed leaves blocks without their bit. A power failure may leave bits without
// their block: readers check the records' CRCs and fetch again what is damaged.
//
// The cache is filled up to RECPACK_CACHE_BYTES (such as 50GB; without it there is no cache). Then
// objects are removed that no process has open, the least recently opened first, and if there are
// none, new blocks are left out. In training every record is used once an epoch, so keeping what is
// there is better than replacing it: a cache of 20 % of the data gives 20 % of each epoch, where
// replacing the least recently used gives none.
//
// Thread-safe. Never throws after it was opened: what cannot be cached is not cached.
class DiskCache {
 public:
  // Returns nullptr without RECPACK_CACHE_BYTES, without a version (an ETag), for an empty object,
  // or if the folder cannot be used. Throws Error (kInvalidArgument) if the variable is not a
  // size.
  static std::shared_ptr<DiskCache> Open(const std::string& url, const std::string& version,
                                         uint64_t size);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  // Tells whether all these bytes are there.
  bool Has(uint64_t offset, uint64_t size) const noexcept;
  // Reads bytes; returns false, with `out` undefined, if some are not there.
  bool Read(uint64_t offset, std::span<uint8_t> out) const noexcept;
  // Stores the whole blocks of `bytes`, which lie at `offset`.
  void Store(uint64_t offset, ByteView bytes) noexcept;

  // Returns begin and end of the range to fetch instead of a range, so that it can be stored: that
  // of whole blocks around it; the range itself while the cache is full.
  std::pair<uint64_t, uint64_t> Around(uint64_t offset, uint64_t size) const noexcept;

  // Returns what the cache folder holds, and its limit; nullopt: no cache.
  static DiskCacheUse Use();
  static std::optional<uint64_t> Limit();
  // Removes all objects that no process has open. Returns what was removed.
  static DiskCacheUse Clear();

 private:
  DiskCache(Descriptor data, Descriptor bits, uint64_t size, uint64_t limit,
            std::atomic<uint64_t>* map);

  const Descriptor data_;
  const Descriptor bits_;  // holds a shared lock
  const uint64_t size_;
  const uint64_t limit_;
  std::atomic<uint64_t>* const map_;  // mapped
};

}  // namespace recpack::remote

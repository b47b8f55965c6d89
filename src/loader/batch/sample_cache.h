// Cache of byte strings with a memory budget.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "recpack/base/bytes.h"
#include "recpack/loader/cache.h"

namespace recpack {

struct CacheKey {
  uint32_t view = 0;     // in the mixture
  uint64_t id = 0;       // ordinal of the record
  uint64_t picture = 0;  // identifies the image in the record; 0: the record itself

  bool operator==(const CacheKey&) const = default;
};

// Thread-safe and lock-free: an append-only table in one reservation of address space as large as
// the budget, which the kernel backs as it is written. Found entries stay valid for the lifetime of
// the cache.
class SampleCache {
 public:
  // For at most `entries` entries, rarely smaller than `least_bytes`. Throws Error
  // (kInvalidArgument) if the system refuses to reserve the budget.
  SampleCache(uint64_t budget_bytes, uint64_t entries, uint64_t least_bytes);
  ~SampleCache();
  SampleCache(const SampleCache&) = delete;
  SampleCache& operator=(const SampleCache&) = delete;

  std::optional<ByteView> Find(const CacheKey& key) const noexcept;

  // Returns true if Keep() would keep an entry of this size, unless another thread takes the room.
  bool HasRoom(uint64_t bytes) const noexcept;

  // Keeps a copy if there is room and the key is new.
  void Keep(const CacheKey& key, ByteView bytes) noexcept;

  // Without hits and misses.
  CacheStats stats() const noexcept;

 private:
  struct Entry;

  uint64_t Limit() const noexcept;
  Entry* EntryAt(uint64_t offset) const noexcept;
  bool Insert(uint64_t offset) noexcept;
  std::optional<uint64_t> Reserve(uint64_t bytes) noexcept;
  void GiveBack(uint64_t offset, uint64_t bytes) noexcept;

  uint64_t capacity_;           // budget, rounded to whole pages
  uint8_t* memory_ = nullptr;   // null if the budget is below a page
  uint64_t* table_ = nullptr;   // offsets of entries, 0: free; open addressing; at memory_
  uint64_t mask_ = 0;           // number of table slots (a power of two), minus 1
  std::atomic<uint64_t> used_;  // bytes of memory_
  std::atomic<uint64_t> entries_ = 0;
};

// Hits and misses of one thread. Only that thread counts; any thread may read.
class alignas(64) CacheCounts {
 public:
  void Count(bool hit) noexcept {
    std::atomic<uint64_t>& count = hit ? hits_ : misses_;
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void AddTo(CacheStats& stats) const noexcept {
    stats.hits += hits_.load(std::memory_order_relaxed);
    stats.misses += misses_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<uint64_t> hits_ = 0;
  std::atomic<uint64_t> misses_ = 0;
};

}  // namespace recpack

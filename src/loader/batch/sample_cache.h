// Bytes by what they are of, within a budget.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "recpack/base/bytes.h"
#include "recpack/loader/cache.h"

namespace recpack {

struct CacheKey {
  uint32_t view = 0;     // of the mixture
  uint64_t id = 0;       // ordinal of the record
  uint64_t picture = 0;  // which one of the record; 0: the record itself

  bool operator==(const CacheKey&) const = default;
};

// Any number of threads, without locks: a table that is only ever added to, in one reservation of
// memory as large as the budget, which the kernel backs as it is written. What was found stays
// valid as long as the cache.
class SampleCache {
 public:
  // For at most `entries` of rarely less than `least_bytes` each. Throws Error (kInvalidArgument)
  // for a budget that the system does not reserve.
  SampleCache(uint64_t budget_bytes, uint64_t entries, uint64_t least_bytes);
  ~SampleCache();
  SampleCache(const SampleCache&) = delete;
  SampleCache& operator=(const SampleCache&) = delete;

  std::optional<ByteView> Find(const CacheKey& key) const noexcept;

  // Whether Keep() would keep so many bytes, if no other thread is faster.
  bool HasRoom(uint64_t bytes) const noexcept;

  // Keeps a copy where there is room and nothing of that key.
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

  uint64_t capacity_;           // the budget in whole pages
  uint8_t* memory_ = nullptr;   // null where the budget is below a page
  uint64_t* table_ = nullptr;   // offsets of entries, 0: free; open addressing; at memory_
  uint64_t mask_ = 0;           // of the table's slots, a power of two
  std::atomic<uint64_t> used_;  // bytes of memory_
  std::atomic<uint64_t> entries_ = 0;
};

// One thread's, which alone counts; any thread reads.
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

#include "src/loader/batch/sample_cache.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {
namespace {

constexpr uint64_t kAlignment = 16;
constexpr uint64_t kTableShare = 8;  // the table takes at most 1/8 of the budget

// A bijection that spreads neighbours (the finaliser of SplitMix64).
uint64_t Spread(uint64_t number) noexcept {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

uint64_t Hash(const CacheKey& key) noexcept {
  return Spread(key.id + Spread(key.picture + (uint64_t{key.view} << 40)));
}

uint64_t WholePages(uint64_t bytes) {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes / page * page;
}

}  // namespace

// Header of an entry; its bytes follow.
struct SampleCache::Entry {
  CacheKey key;
  uint64_t size;

  uint8_t* bytes() noexcept { return reinterpret_cast<uint8_t*>(this + 1); }
  static uint64_t Cost(uint64_t size) noexcept {
    return (sizeof(Entry) + size + kAlignment - 1) / kAlignment * kAlignment;
  }
};

SampleCache::SampleCache(uint64_t budget_bytes, uint64_t entries, uint64_t least_bytes)
    : capacity_(WholePages(budget_bytes)), used_(0) {
  static_assert(sizeof(Entry) == 32);
  if (capacity_ == 0) return;
  entries = std::min(entries, capacity_ / Entry::Cost(least_bytes)) + 1;
  const uint64_t most = std::bit_floor(capacity_ / kTableShare / sizeof(uint64_t));
  const uint64_t slots = std::min(std::bit_ceil(entries + entries / 2), most);
  void* const memory = ::mmap(nullptr, capacity_, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw Error(
        ErrorKind::kInvalidArgument,
        format("a cache of {} bytes cannot be reserved: {}", budget_bytes, std::strerror(errno)),
        {}, "choose a smaller budget");
  }
  memory_ = static_cast<uint8_t*>(memory);
  table_ = reinterpret_cast<uint64_t*>(memory_);
  mask_ = slots - 1;
  used_ = std::max(slots * sizeof(uint64_t), kAlignment);
}

SampleCache::~SampleCache() {
  if (memory_ != nullptr) ::munmap(memory_, capacity_);
}

SampleCache::Entry* SampleCache::EntryAt(uint64_t offset) const noexcept {
  return std::launder(reinterpret_cast<Entry*>(memory_ + offset));
}

// A quarter of the table stays free to keep searches short.
uint64_t SampleCache::Limit() const noexcept { return mask_ + 1 - (mask_ + 4) / 4; }

std::optional<ByteView> SampleCache::Find(const CacheKey& key) const noexcept {
  if (table_ == nullptr) return {};
  for (uint64_t at = Hash(key) & mask_;; at = (at + 1) & mask_) {
    const uint64_t offset = std::atomic_ref(table_[at]).load(std::memory_order_acquire);
    if (offset == 0) return {};
    Entry* const entry = EntryAt(offset);
    if (entry->key == key) return ByteView(entry->bytes(), entry->size);
  }
}

bool SampleCache::HasRoom(uint64_t bytes) const noexcept {
  return table_ != nullptr && bytes <= capacity_ &&
         Entry::Cost(bytes) <= capacity_ - used_.load(std::memory_order_relaxed) &&
         entries_.load(std::memory_order_relaxed) < Limit();
}

void SampleCache::Keep(const CacheKey& key, ByteView bytes) noexcept {
  if (!HasRoom(bytes.size()) || Find(key)) return;
  if (entries_.fetch_add(1, std::memory_order_relaxed) < Limit()) {
    const uint64_t cost = Entry::Cost(bytes.size());
    if (const auto offset = Reserve(cost)) {
      auto* const entry = new (memory_ + *offset) Entry{key, bytes.size()};
      if (!bytes.empty()) std::memcpy(entry->bytes(), bytes.data(), bytes.size());
      if (Insert(*offset)) return;
      GiveBack(*offset, cost);
    }
  }
  entries_.fetch_sub(1, std::memory_order_relaxed);
}

// Returns false if another thread inserted the same key first.
bool SampleCache::Insert(uint64_t offset) noexcept {
  const CacheKey& key = EntryAt(offset)->key;
  for (uint64_t at = Hash(key) & mask_;; at = (at + 1) & mask_) {
    uint64_t there = 0;
    if (std::atomic_ref(table_[at])
            .compare_exchange_strong(there, offset, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      return true;
    }
    if (EntryAt(there)->key == key) return false;
  }
}

std::optional<uint64_t> SampleCache::Reserve(uint64_t bytes) noexcept {
  uint64_t now = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > capacity_ - now) return {};
  } while (!used_.compare_exchange_weak(now, now + bytes, std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
  return now;
}

// Frees the memory if it was reserved last; otherwise it stays unused, which is rare.
void SampleCache::GiveBack(uint64_t offset, uint64_t bytes) noexcept {
  uint64_t end = offset + bytes;
  used_.compare_exchange_strong(end, offset, std::memory_order_acq_rel, std::memory_order_relaxed);
}

CacheStats SampleCache::stats() const noexcept {
  return {.kept = entries_.load(std::memory_order_relaxed),
          .bytes = used_.load(std::memory_order_relaxed)};
}

}  // namespace recpack

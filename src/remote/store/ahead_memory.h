// Limit of the memory of ranges that are fetched ahead of their use.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace recpack::remote {

// Counts the memory of announced ranges that were requested and not touched yet, of all objects of
// the process. Its limit is 64 MiB and twice what is under way on the link (LinkMeter): so much
// keeps the link busy, and the first batch does not wait for much else. Ranges for which there is
// none wait, in order: to leave them out would mean that they are fetched record by record, in
// turn, when they are read. Thread-safe.
class AheadMemory {
 public:
  static constexpr uint64_t kLeast = uint64_t{64} << 20;
  static constexpr uint64_t kMost = uint64_t{512} << 20;

  // Called with the bytes that were taken for it, on any thread. Must not throw.
  using Again = std::function<void(uint64_t reserved)>;

  // `under_way`: returns the bytes under way on the link.
  explicit AheadMemory(std::function<uint64_t()> under_way) : under_way_(std::move(under_way)) {}
  AheadMemory();

  // Returns the calling process's. Never destroyed.
  static AheadMemory& Get();

  // Raises the least limit to `bytes`, kMost at most: so many are read in an order of their own.
  void Ensure(uint64_t bytes);

  // Returns the limit as of now, without what Ensure() adds. Thread-safe.
  uint64_t LimitOfLink() const { return std::min(kLeast + 2 * under_way_(), kMost); }

  // Takes `size` bytes; more than the limit while nothing else is taken. Returns false if there are
  // not so many, or others wait: then `again` is called when they were taken.
  bool Take(uint64_t size, Again again);
  // Takes bytes also if there are none: somebody waits for the range.
  void TakeAnyway(uint64_t size);
  void Give(uint64_t size);

  // Adds to the bytes announced by the process; returns those before.
  uint64_t CountAnnounced(uint64_t size) noexcept { return announced_.fetch_add(size); }

 private:
  struct Waiting {
    uint64_t size;
    Again again;
  };

  bool HasRoom(uint64_t size) const;

  const std::function<uint64_t()> under_way_;
  std::atomic<uint64_t> announced_{0};
  std::mutex mutex_;
  uint64_t least_ = kLeast;      // guarded by mutex_
  uint64_t taken_ = 0;           // guarded by mutex_
  std::deque<Waiting> waiting_;  // guarded by mutex_
};

}  // namespace recpack::remote

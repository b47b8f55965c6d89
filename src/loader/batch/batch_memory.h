// What a batch lies in: a slab, and what is said of each sample in it. It goes along with a batch
// that leaves the ring.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "recpack/base/slab.h"
#include "src/loader/batch/stats_page.h"

namespace recpack {

struct BatchMemory {
  std::shared_ptr<void> slab;
  std::vector<uint64_t> ids;
  std::vector<uint32_t> views;
  std::vector<uint8_t> mask;

  uint8_t* bytes() const noexcept { return static_cast<uint8_t*>(slab.get()); }
};

// All that a ring uses. Made for the most that are in use at once, and used again: first the one
// that came back last, which is still in the processor's caches. Where the consumer keeps up few
// are in use, however many there are.
class BatchMemories {
 public:
  // Of batches of `samples` samples in `slab_bytes` bytes. Counts them on the page.
  BatchMemories(size_t slab_bytes, uint32_t samples, SlabAllocator& slabs, StatsPage& page);

  // One more may be in use at once. One thread at a time, as the allocator wants it. Throws what
  // the allocator throws, and is then as before.
  void Reserve();
  // One fewer.
  void Unreserve() noexcept;

  // Any thread: there is one where no more are in use than are reserved.
  std::shared_ptr<BatchMemory> Take() noexcept;
  // Any thread: nobody reads it any more.
  void Give(std::shared_ptr<BatchMemory> memory) noexcept;

 private:
  const size_t slab_bytes_;
  const uint32_t samples_;
  SlabAllocator& slabs_;
  PageWord& told_;

  std::mutex mutex_;
  size_t made_ = 0;
  size_t reserved_ = 0;
  std::vector<std::shared_ptr<BatchMemory>> free_;  // the one used last is last; has room for all
};

}  // namespace recpack

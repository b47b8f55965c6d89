// What a batch lies in: a slab, and what is said of each sample in it. It goes along with a batch
// that leaves the ring.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "recpack/base/slab.h"
#include "src/pipeline/stats_page.h"

namespace recpack {

struct BatchMemory {
  std::shared_ptr<void> slab;
  std::vector<uint64_t> ids;
  std::vector<uint32_t> views;
  std::vector<uint8_t> mask;

  uint8_t* bytes() const noexcept { return static_cast<uint8_t*>(slab.get()); }
};

// All that a ring uses: what came back is used again, and more is made only where nothing did.
class BatchMemories {
 public:
  // Of batches of `samples` samples in `slab_bytes` bytes. Counts them on the page.
  BatchMemories(size_t slab_bytes, uint32_t samples, SlabAllocator& slabs, StatsPage& page);

  // One thread at a time, as the allocator wants it. Throws what the allocator throws.
  std::shared_ptr<BatchMemory> Take();

  // Any thread: nobody reads it any more.
  void Give(std::shared_ptr<BatchMemory> memory) noexcept;

 private:
  const size_t slab_bytes_;
  const uint32_t samples_;
  SlabAllocator& slabs_;
  PageWord& told_;
  size_t made_ = 0;

  std::mutex mutex_;
  std::vector<std::shared_ptr<BatchMemory>> free_;  // the one used last is last; has room for all
};

}  // namespace recpack

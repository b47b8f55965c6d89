// Memory of a batch: its slab and per-sample metadata. A batch that leaves the ring takes its
// memory with it.
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

// Pool of a ring's batch memory. Allocates for the maximum in use at once, and reuses what came
// back last, which is still in the CPU's caches: if the consumer keeps up, only few are in use.
class BatchMemories {
 public:
  // For batches of `samples` samples in slabs of `slab_bytes` bytes. Counts slabs on the page.
  BatchMemories(size_t slab_bytes, uint32_t samples, SlabAllocator& slabs, StatsPage& page);

  // Raises the number that may be in use at once by one. Not thread-safe, for the allocator's sake.
  // On failure throws what the allocator throws and changes nothing.
  void Reserve();
  // Lowers it by one.
  void Unreserve() noexcept;

  // Thread-safe. Never fails while no more are in use than reserved.
  std::shared_ptr<BatchMemory> Take() noexcept;
  // Thread-safe. The memory must no longer be in use.
  void Give(std::shared_ptr<BatchMemory> memory) noexcept;

 private:
  const size_t slab_bytes_;
  const uint32_t samples_;
  SlabAllocator& slabs_;
  PageWord& told_;

  std::mutex mutex_;
  size_t made_ = 0;
  size_t reserved_ = 0;
  std::vector<std::shared_ptr<BatchMemory>> free_;  // most recently used last; capacity for all
};

}  // namespace recpack

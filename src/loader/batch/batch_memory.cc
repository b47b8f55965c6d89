#include "src/loader/batch/batch_memory.h"

#include <utility>

namespace recpack {

BatchMemories::BatchMemories(size_t slab_bytes, uint32_t samples, SlabAllocator& slabs,
                             StatsPage& page)
    : slab_bytes_(slab_bytes), samples_(samples), slabs_(slabs), told_(page.blocks().ring.slabs) {}

void BatchMemories::Reserve() {
  {
    const std::lock_guard lock(mutex_);
    if (reserved_ < made_) {
      ++reserved_;
      return;
    }
    free_.reserve(made_ + 1);
  }
  // Allocate without the lock: pinning memory is slow.
  auto memory = std::make_shared<BatchMemory>();
  memory->slab = slabs_.Allocate(slab_bytes_);
  memory->ids.resize(samples_);
  memory->views.resize(samples_);
  memory->mask.resize(samples_);
  const std::lock_guard lock(mutex_);
  free_.insert(free_.begin(), std::move(memory));  // used memory is preferred
  ++reserved_;
  told_.store(++made_, std::memory_order_relaxed);
}

void BatchMemories::Unreserve() noexcept {
  const std::lock_guard lock(mutex_);
  --reserved_;
}

std::shared_ptr<BatchMemory> BatchMemories::Take() noexcept {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<BatchMemory> memory = std::move(free_.back());
  free_.pop_back();
  return memory;
}

void BatchMemories::Give(std::shared_ptr<BatchMemory> memory) noexcept {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(memory));
}

}  // namespace recpack

// Memory that batches are written into.
#pragma once

#include <cstddef>
#include <memory>

namespace recpack {

// Where slabs come from: the host's memory here, pinned memory where a device's copies need it.
// Allocate() is called from one thread; the memory may be freed on any.
class SlabAllocator {
 public:
  virtual ~SlabAllocator() = default;

  // At least `bytes` bytes, aligned to 4096. Owned by the result. Throws std::bad_alloc
  // (HostMemoryError says how many bytes), or Error where the memory is a device's.
  virtual std::shared_ptr<void> Allocate(size_t bytes) = 0;
};

// The host's memory, in huge pages where the kernel gives them. Lives for ever.
SlabAllocator& HostSlabs();

}  // namespace recpack

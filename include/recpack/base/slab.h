// Allocators for slabs, the memory blocks that batches are written into.
#pragma once

#include <cstddef>
#include <memory>

namespace recpack {

// Allocates slabs: host memory here, pinned memory for copies to a device. Allocate() is called by
// one thread at a time; memory may be freed on any thread.
class SlabAllocator {
 public:
  virtual ~SlabAllocator() = default;

  // Allocates at least `bytes` bytes, aligned to 4096, owned by the result. Throws std::bad_alloc
  // (HostMemoryError, which says how many bytes) for host memory, Error for device memory.
  virtual std::shared_ptr<void> Allocate(size_t bytes) = 0;
};

// Returns the allocator for host memory, which uses huge pages if the kernel provides them. Never
// destroyed.
SlabAllocator& HostSlabs();

}  // namespace recpack

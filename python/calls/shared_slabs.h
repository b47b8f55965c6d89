// Slabs that worker processes can map.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "recpack/base/slab.h"

namespace recpack::python {

// Thread-safe. A forked child sees its parent's writes, and may release the slabs and allocate its
// own.
class SharedSlabs final : public SlabAllocator {
 public:
  struct Slab {
    int memory;       // descriptor, valid for the lifetime of the slab
    size_t bytes;     // size of the mapping; the last byte is 0 until the slab is freed
    uint64_t number;  // unique, never reused
    pid_t made_in;    // process that made it
  };

  std::shared_ptr<void> Allocate(size_t bytes) override;

  // Returns the slab that begins at this address; nullopt if there is none.
  std::optional<Slab> Find(const void* start);

 private:
  friend SharedSlabs& ProcessSlabs();

  SharedSlabs() = default;
  void Free(void* start) noexcept;

  std::mutex mutex_;
  std::map<const void*, Slab> slabs_;
  uint64_t made_ = 0;
};

// The allocator of the process. Never destroyed.
SharedSlabs& ProcessSlabs();

}  // namespace recpack::python

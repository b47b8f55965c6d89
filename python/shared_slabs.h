// Slabs that worker processes can map.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "recpack/base/slab.h"

namespace recpack::python {

// Any thread. A child that is forked sees what its parent writes into them, and may let go of them
// and make its own.
class SharedSlabs final : public SlabAllocator {
 public:
  struct Slab {
    int memory;       // a descriptor, as long as the slab is there
    size_t bytes;     // that can be mapped; the last one is 0 until the slab is freed
    uint64_t number;  // its own, for ever
    pid_t made_in;    // a process
  };

  std::shared_ptr<void> Allocate(size_t bytes) override;

  // The slab that begins there; nothing where it is none of these.
  std::optional<Slab> Find(const void* start);

 private:
  friend SharedSlabs& ProcessSlabs();

  SharedSlabs() = default;
  void Free(void* start) noexcept;

  std::mutex mutex_;
  std::map<const void*, Slab> slabs_;
  uint64_t made_ = 0;
};

// Of the process. Lives for ever.
SharedSlabs& ProcessSlabs();

}  // namespace recpack::python

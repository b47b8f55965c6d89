#include "recpack/base/slab.h"

#include <sys/mman.h>

#include <cstdlib>

#include "recpack/base/out_of_memory.h"

namespace recpack {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;

class Host : public SlabAllocator {
 public:
  std::shared_ptr<void> Allocate(size_t bytes) override {
    const size_t alignment = bytes >= kHugePage ? kHugePage : kPage;
    const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
    if (memory == nullptr) throw HostMemoryError(bytes);
    if (alignment == kHugePage) ::madvise(memory, rounded, MADV_HUGEPAGE);  // a hint
    return {memory, std::free};
  }
};

}  // namespace

SlabAllocator& HostSlabs() {
  static Host* const host = new Host;
  return *host;
}

}  // namespace recpack

#include "python/calls/shared_slabs.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "recpack/base/descriptor.h"
#include "recpack/base/error.h"

namespace recpack::python {
namespace {

constexpr size_t kPage = 4096;

}  // namespace

std::shared_ptr<void> SharedSlabs::Allocate(size_t bytes) {
  const size_t rounded = (bytes + kPage) / kPage * kPage;  // with at least one more byte
  Descriptor memory(::memfd_create("recpack_io slab", MFD_CLOEXEC));
  if (memory.get() < 0 || ::ftruncate(memory.get(), static_cast<off_t>(rounded)) != 0) {
    throw SystemError("making memory for worker processes", "", errno);
  }
  void* const start = ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (start == MAP_FAILED) throw SystemError("mapping memory for worker processes", "", errno);
  const std::lock_guard lock(mutex_);
  slabs_[start] = {memory.Release(), rounded, ++made_, ::getpid()};
  return {start, [this](void* of) { Free(of); }};
}

std::optional<SharedSlabs::Slab> SharedSlabs::Find(const void* start) {
  const std::lock_guard lock(mutex_);
  const auto found = slabs_.find(start);
  if (found == slabs_.end()) return {};
  return found->second;
}

void SharedSlabs::Free(void* start) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = slabs_.find(start);
  // Tells processes that have it mapped to release it. A forked child's copy is not affected.
  const Slab& slab = found->second;
  if (::getpid() == slab.made_in) static_cast<uint8_t*>(start)[slab.bytes - 1] = 1;
  ::munmap(start, slab.bytes);
  ::close(slab.memory);
  slabs_.erase(found);
}

SharedSlabs& ProcessSlabs() {
  static auto* const slabs = new SharedSlabs;
  // No child must start with a locked mutex.
  static const int registered = ::pthread_atfork([] { slabs->mutex_.lock(); },     // before,
                                                 [] { slabs->mutex_.unlock(); },   // in the parent,
                                                 [] { slabs->mutex_.unlock(); });  // in the child
  (void)registered;
  return *slabs;
}

}  // namespace recpack::python

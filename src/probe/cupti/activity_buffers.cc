#include "src/probe/cupti/activity_buffers.h"

#include <new>
#include <utility>

namespace recpack::probe {

uint8_t* ActivityBuffers::Take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    if (buffers_.size() == kMost) return nullptr;
    std::unique_ptr<uint64_t[]> buffer(new (std::nothrow) uint64_t[kSize / sizeof(uint64_t)]);
    if (buffer == nullptr) return nullptr;
    free_.push_back(reinterpret_cast<uint8_t*>(buffer.get()));
    buffers_.push_back(std::move(buffer));
  }
  uint8_t* buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void ActivityBuffers::GiveBack(uint8_t* buffer) {
  const std::lock_guard lock(mutex_);
  free_.push_back(buffer);
}

}  // namespace recpack::probe

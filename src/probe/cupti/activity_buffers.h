// Pool of the buffers that CUPTI writes its records to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace recpack::probe {

// Thread-safe.
class ActivityBuffers {
 public:
  static constexpr size_t kSize = size_t{1} << 20;  // bytes per buffer
  static constexpr size_t kMost = 64;

  // Returns nullptr if all buffers are in use: CUPTI then drops records and counts them.
  uint8_t* Take() {
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

  void GiveBack(uint8_t* buffer) {
    const std::lock_guard lock(mutex_);
    free_.push_back(buffer);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<uint64_t[]>> buffers_;  // CUPTI requires alignment to 8 bytes
  std::vector<uint8_t*> free_;
};

}  // namespace recpack::probe

// The memory that CUPTI writes its records to: a few buffers in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace recpack::probe {

// Any thread.
class ActivityBuffers {
 public:
  static constexpr size_t kSize = size_t{1} << 20;  // bytes of each
  static constexpr size_t kMost = 64;

  // Null where all are in use: CUPTI drops records then, and counts them.
  uint8_t* Take();
  void GiveBack(uint8_t* buffer);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<uint64_t[]>> buffers_;  // CUPTI wants them aligned to 8 bytes
  std::vector<uint8_t*> free_;
};

}  // namespace recpack::probe

// Memory for records, used again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace recpack {

// Fresh pages cost more than reading a cached record into them: large buffers come back here when
// their last user is gone, on whatever thread. Small ones are left to malloc. Any thread.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  // Keeps at most so many bytes that nobody uses.
  explicit BufferPool(size_t max_kept_bytes) : max_kept_bytes_(max_kept_bytes) {}

  // At least `size` bytes, of any content. Outlives the pool's other owners.
  std::shared_ptr<uint8_t[]> Take(size_t size);

 private:
  using Buffer = std::unique_ptr<uint8_t[]>;

  void GiveBack(Buffer buffer, size_t size_class) noexcept;

  const size_t max_kept_bytes_;
  std::mutex mutex_;
  size_t kept_bytes_ = 0;
  std::array<std::vector<Buffer>, 64> kept_;  // by the exponent of their size
};

}  // namespace recpack

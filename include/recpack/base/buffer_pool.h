// Pool of large memory buffers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace recpack {

// Reuses large buffers, since faulting in fresh pages costs more than reading cached bytes into
// them. A buffer returns to the pool when its last owner releases it, on any thread. Small buffers
// are left to malloc. Thread-safe. In a forked child it keeps nothing: its lock may be held by a
// thread that does not exist there.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  // Keeps at most `max_kept_bytes` of unused buffers.
  explicit BufferPool(size_t max_kept_bytes);

  // Returns at least `size` bytes, uninitialised. The buffer keeps the pool alive.
  std::shared_ptr<uint8_t[]> Take(size_t size);

 private:
  using Buffer = std::unique_ptr<uint8_t[]>;

  void GiveBack(Buffer buffer, size_t size_class) noexcept;

  const size_t max_kept_bytes_;
  const int process_;
  std::mutex mutex_;
  size_t kept_bytes_ = 0;
  std::array<std::vector<Buffer>, 256> kept_;  // by class of size
};

}  // namespace recpack

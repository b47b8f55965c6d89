#include "recpack/base/buffer_pool.h"

#include <unistd.h>

#include <bit>

namespace recpack {
namespace {

constexpr size_t kSmall = size_t{1} << 14;
constexpr size_t kSteps = 4;  // classes from a power of two to the next

// The smallest class of sizes that has `size`.
size_t ClassFor(size_t size) {
  const auto power = static_cast<size_t>(std::bit_width(size - 1)) - 1;
  const size_t step = (size - 1 - (size_t{1} << power)) / ((size_t{1} << power) / kSteps);
  return power * kSteps + step;
}

size_t LargestIn(size_t size_class) {
  const size_t power = size_t{1} << (size_class / kSteps);
  return power + (size_class % kSteps + 1) * (power / kSteps);
}

}  // namespace

BufferPool::BufferPool(size_t max_kept_bytes)
    : max_kept_bytes_(max_kept_bytes), process_(::getpid()) {}

std::shared_ptr<uint8_t[]> BufferPool::Take(size_t size) {
  if (size < kSmall || ::getpid() != process_)
    return std::make_shared_for_overwrite<uint8_t[]>(size);
  const size_t size_class = ClassFor(size);
  Buffer buffer;
  {
    const std::lock_guard lock(mutex_);
    if (auto& kept = kept_.at(size_class); !kept.empty()) {
      buffer = std::move(kept.back());
      kept.pop_back();
      kept_bytes_ -= LargestIn(size_class);
    }
  }
  if (!buffer) buffer = std::make_unique_for_overwrite<uint8_t[]>(LargestIn(size_class));
  const auto give_back = [pool = shared_from_this(), size_class](uint8_t* bytes) {
    pool->GiveBack(Buffer(bytes), size_class);
  };
  return {buffer.release(), give_back};
}

void BufferPool::GiveBack(Buffer buffer, size_t size_class) noexcept {
  const size_t size = LargestIn(size_class);
  if (size > max_kept_bytes_ || ::getpid() != process_) return;
  std::vector<Buffer> freed;  // after the lock
  const std::lock_guard lock(mutex_);
  try {
    // Sizes that are not asked for any more make room for this one.
    for (size_t other = 0; other < kept_.size() && kept_bytes_ + size > max_kept_bytes_; ++other) {
      if (other == size_class || kept_[other].empty()) continue;
      freed.push_back(std::move(kept_[other].back()));
      kept_[other].pop_back();
      kept_bytes_ -= LargestIn(other--);
    }
    if (kept_bytes_ + size > max_kept_bytes_) return;
    kept_[size_class].push_back(std::move(buffer));
    kept_bytes_ += size;
  } catch (const std::bad_alloc&) {
    // The buffer is freed.
  }
}

}  // namespace recpack

#include "src/record/random/buffer_pool.h"

#include <bit>

namespace recpack {
namespace {

constexpr size_t kSmall = size_t{1} << 14;

}  // namespace

std::shared_ptr<uint8_t[]> BufferPool::Take(size_t size) {
  if (size < kSmall) return std::make_shared_for_overwrite<uint8_t[]>(size);
  const auto size_class = static_cast<size_t>(std::bit_width(size - 1));
  Buffer buffer;
  {
    const std::lock_guard lock(mutex_);
    if (auto& kept = kept_.at(size_class); !kept.empty()) {
      buffer = std::move(kept.back());
      kept.pop_back();
      kept_bytes_ -= size_t{1} << size_class;
    }
  }
  if (!buffer) buffer = std::make_unique_for_overwrite<uint8_t[]>(size_t{1} << size_class);
  const auto give_back = [pool = shared_from_this(), size_class](uint8_t* bytes) {
    pool->GiveBack(Buffer(bytes), size_class);
  };
  return {buffer.release(), give_back};
}

void BufferPool::GiveBack(Buffer buffer, size_t size_class) noexcept {
  const size_t size = size_t{1} << size_class;
  const std::lock_guard lock(mutex_);
  if (kept_bytes_ + size > max_kept_bytes_) return;
  try {
    kept_[size_class].push_back(std::move(buffer));
    kept_bytes_ += size;
  } catch (const std::bad_alloc&) {
    // The buffer is freed.
  }
}

}  // namespace recpack

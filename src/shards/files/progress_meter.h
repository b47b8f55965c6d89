// Progress reporting from many threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

namespace recpack {

// Calls the callback from time to time, one call at a time. Does nothing without a callback.
class ProgressMeter {
 public:
  using Callback = std::function<void(uint64_t bytes, uint64_t total_bytes)>;

  ProgressMeter(Callback callback, uint64_t total)
      : callback_(std::move(callback)), total_(total) {}

  // Thread-safe.
  void Add(uint64_t bytes) {
    if (!callback_) return;
    const uint64_t now = bytes_ += bytes;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock) callback_(now, total_);
  }

 private:
  const Callback callback_;
  const uint64_t total_;
  std::atomic<uint64_t> bytes_ = 0;
  std::mutex mutex_;
};

}  // namespace recpack

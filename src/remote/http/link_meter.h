// Estimate of the bytes that a link carries while a request waits for its answer to begin.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace recpack::remote {

// Bandwidth times delay. The bandwidth is the largest of recent moments, since a consumer may take
// less than the link gives. Add...() are for one thread; BytesUnderWay() is thread-safe.
class LinkMeter {
 public:
  using Clock = std::chrono::steady_clock;

  // Adds the time from a request's start to the first byte of its answer.
  void AddFirstByte(Clock::duration after) noexcept;
  // Adds bytes that arrived.
  void AddBytes(size_t bytes, Clock::time_point now) noexcept;

  // Returns 0 before anything was measured.
  uint64_t BytesUnderWay() const noexcept { return under_way_.load(std::memory_order_relaxed); }

 private:
  double delay_ = 0;  // seconds, smoothed
  double rate_ = 0;   // bytes per second
  size_t bytes_ = 0;  // since begin_
  Clock::time_point begin_;
  std::atomic<uint64_t> under_way_ = 0;
};

}  // namespace recpack::remote

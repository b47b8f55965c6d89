#include "src/remote/http/link_meter.h"

#include <algorithm>

namespace recpack::remote {
namespace {

// Weights of a new delay. What exceeds the least is the wait behind our own requests, which more of
// them would only prolong.
constexpr double kFalling = 1.0 / 4, kRising = 1.0 / 128;
constexpr double kMostDelay = 1;  // second: what takes longer is a stall
constexpr double kMoment = 0.05;  // seconds over which a rate is measured
constexpr double kFading = 0.95;  // of the largest rate, from one moment to the next

}  // namespace

void LinkMeter::AddFirstByte(Clock::duration after) noexcept {
  const double seconds = std::min(kMostDelay, std::chrono::duration<double>(after).count());
  delay_ =
      delay_ == 0 ? seconds : delay_ + (seconds < delay_ ? kFalling : kRising) * (seconds - delay_);
}

void LinkMeter::AddBytes(size_t bytes, Clock::time_point now) noexcept {
  if (begin_ == Clock::time_point()) begin_ = now;
  bytes_ += bytes;
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  if (elapsed < kMoment) return;
  rate_ = std::max(static_cast<double>(bytes_) / elapsed, kFading * rate_);
  bytes_ = 0;
  begin_ = now;
  under_way_.store(static_cast<uint64_t>(rate_ * delay_), std::memory_order_relaxed);
}

}  // namespace recpack::remote

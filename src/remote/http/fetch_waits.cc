#include "src/remote/http/fetch_waits.h"

#include <thread>
#include <utility>

namespace recpack::remote {

FetchWaits::~FetchWaits() {
  const auto move_all = [this](Wait to) {
    const uint64_t all = waited_.total();
    waited_ = {};
    waited_.times[static_cast<size_t>(to)] = all;
  };
  if (blamed_) {
    move_all(*blamed_);
  } else if (slowed_) {
    uint64_t& first_byte = waited_.times[static_cast<size_t>(Wait::kFirstByte)];
    waited_.times[static_cast<size_t>(Wait::kThrottled)] += std::exchange(first_byte, 0);
  }
  waited_.Count();
}

void FetchWaits::CountRequest(const Exchange& exchange, bool accepted) noexcept {
  Traffic& traffic = TrafficOfThread();
  const bool throttled = IsThrottled(exchange.status());
  Traffic::Add(traffic.requests, 1);
  Traffic::Add(traffic.first_byte, static_cast<uint64_t>(exchange.first_byte_time().count()));
  Traffic::Add(traffic.transfer, static_cast<uint64_t>(exchange.transfer_time().count()));
  if (throttled) Traffic::Add(traffic.throttled, 1);
  if (accepted) {
    if (exchange.ok()) Traffic::Add(traffic.bytes, exchange.received());
    return;
  }
  Traffic::Add(traffic.retried, 1);
  if (throttled) {
    blamed_ = Wait::kThrottled;
  } else if (!blamed_) {
    blamed_ = Wait::kRetry;
  }
}

void FetchWaits::Pause(std::chrono::duration<double> time) {
  const WaitSpan span(*blamed_, waited_);
  std::this_thread::sleep_for(time);
}

}  // namespace recpack::remote

#include "src/remote/http/traffic.h"

#include <numeric>
#include <utility>

#include "recpack/base/clock.h"

namespace recpack::remote {
namespace {

thread_local Traffic* counted = nullptr;

}  // namespace

Traffic& TrafficOfThread() noexcept {
  thread_local Traffic unread{};
  return counted != nullptr ? *counted : unread;
}

CountTraffic::CountTraffic(Traffic& traffic) noexcept : before_(std::exchange(counted, &traffic)) {}

CountTraffic::~CountTraffic() { counted = before_; }

uint64_t Waited::total() const noexcept {
  return std::accumulate(std::begin(times), std::end(times), uint64_t{0});
}

Waited Waited::operator-(const Waited& other) const noexcept {
  Waited less;
  for (size_t i = 0; i < kWaits; ++i) less.times[i] = times[i] - other.times[i];
  return less;
}

Waited WaitedOfThread() noexcept {
  Waited waited;
  const Traffic& traffic = TrafficOfThread();
  for (size_t i = 0; i < kWaits; ++i) waited.times[i] = traffic.waits[i].load();
  return waited;
}

void Waited::Count() const noexcept {
  Traffic& traffic = TrafficOfThread();
  for (size_t i = 0; i < kWaits; ++i) Traffic::Add(traffic.waits[i], times[i]);
}

void Waited::CountAs(std::chrono::nanoseconds time) const noexcept {
  const uint64_t all = total();
  if (all == 0 || time.count() <= 0) return;
  const double factor = static_cast<double>(time.count()) / static_cast<double>(all);
  Waited scaled;
  for (size_t i = 0; i < kWaits; ++i) {
    scaled.times[i] = static_cast<uint64_t>(static_cast<double>(times[i]) * factor);
  }
  scaled.Count();
}

WaitSpan::WaitSpan(Wait what, Waited& waited) noexcept
    : what_(what), waited_(waited), begin_(MonotonicNow()) {
  Traffic& traffic = TrafficOfThread();
  traffic.waits_for.store(static_cast<uint64_t>(what), std::memory_order_release);
  traffic.since.store(begin_, std::memory_order_release);
}

void WaitSpan::End() noexcept {
  if (begin_ == 0) return;
  waited_.times[static_cast<size_t>(what_)] += MonotonicNow() - std::exchange(begin_, 0);
  TrafficOfThread().since.store(0, std::memory_order_release);
}

}  // namespace recpack::remote

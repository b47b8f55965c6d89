// Events that training writes to the event log (recpack/base/event_log.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "recpack/base/event_log.h"

namespace recpack::train {

// Event writer for one device, used on the thread that runs its steps.
class StepEvents {
 public:
  explicit StepEvents(size_t device)
      : log_(EventLog::OfProcess()), device_(static_cast<uint16_t>(device)) {}

  // Records a step, from `begin` to now.
  void Step(int64_t begin, uint64_t number) const noexcept {
    if (log_ == nullptr) return;
    Event event = MakeEvent(EventKind::kStep);
    event.begin = begin;
    event.end = EventLog::Now();
    event.value = number;
    log_->Write(event);
  }

  // While it lives, the device computes. `by_itself`: the device computes asynchronously and
  // reports its own work, so the span counts as host work.
  EventSpan Computes(bool by_itself = false) const noexcept {
    return {log_, MakeEvent(by_itself ? EventKind::kHost : EventKind::kDevice)};
  }

 private:
  Event MakeEvent(EventKind kind) const noexcept {
    return {.kind = kind, .device = device_, .lane = EventLog::ThreadLane()};
  }

  EventLog* const log_;
  const uint16_t device_;
};

// While it lives, this thread waits for other devices.
class ExchangeWaitSpan {
 public:
  ExchangeWaitSpan()
      : span_(EventLog::OfProcess(),
              {.kind = EventKind::kCollective, .lane = EventLog::ThreadLane()}) {}

 private:
  const EventSpan span_;
};

}  // namespace recpack::train

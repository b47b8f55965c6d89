// Bounded container for a run's events: keeps the first and the last ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "src/probe/events/event_reader.h"

namespace recpack::probe {

// Keeps at most `most` events, half of them from the beginning and half from the end. Not
// thread-safe.
class KeptEvents {
 public:
  explicit KeptEvents(size_t most = 0) : most_(most) {}

  void Add(const std::vector<TimedEvent>& events) {
    for (const TimedEvent& event : events) {
      if (first_.size() < most_ - most_ / 2) {
        first_.push_back(event);
        continue;
      }
      last_.push_back(event);
      if (last_.size() <= most_ / 2) continue;
      last_.pop_front();
      ++left_out_;
    }
  }

  std::vector<TimedEvent> All() const {
    std::vector<TimedEvent> all = first_;
    all.insert(all.end(), last_.begin(), last_.end());
    return all;
  }

  // Returns the longest run of latest events without a gap: all, if none was dropped.
  std::vector<TimedEvent> Latest() const {
    return left_out_ == 0 ? All() : std::vector<TimedEvent>(last_.begin(), last_.end());
  }

  // Returns the number of events dropped between the first and the last ones.
  uint64_t left_out() const noexcept { return left_out_; }

 private:
  const size_t most_;
  std::vector<TimedEvent> first_;
  std::deque<TimedEvent> last_;
  uint64_t left_out_ = 0;
};

}  // namespace recpack::probe

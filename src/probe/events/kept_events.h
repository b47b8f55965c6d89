// The events of a run that may be too many to hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "src/probe/events/event_reader.h"

namespace recpack::probe {

// The first ones and the last ones of what was added, half of `most` each. One thread.
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

  // The last of them without a gap: all, where none is missing.
  std::vector<TimedEvent> Latest() const {
    return left_out_ == 0 ? All() : std::vector<TimedEvent>(last_.begin(), last_.end());
  }

  // How many are missing, between the first ones and the last ones.
  uint64_t left_out() const noexcept { return left_out_; }

 private:
  const size_t most_;
  std::vector<TimedEvent> first_;
  std::deque<TimedEvent> last_;
  uint64_t left_out_ = 0;
};

}  // namespace recpack::probe

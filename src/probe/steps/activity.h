// Records kernel starts to find the period of a device's work.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/steps/period.h"

namespace recpack::probe {

// Keeps the latest kernel starts of each device, at most kMost. Not thread-safe.
class Activity {
 public:
  static constexpr size_t kMost = size_t{1} << 16;

  void Add(const std::vector<TimedEvent>& events);
  // Returns the periods of devices whose activity is periodic, the strongest first.
  std::vector<Period> Periods() const;

 private:
  std::map<std::pair<int, uint16_t>, std::deque<int64_t>> starts_;  // by process and device
};

}  // namespace recpack::probe

// When devices were given work, for the period of it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/steps/period.h"

namespace recpack::probe {

// The latest starts of kernels of each device, at most kMost. One thread.
class Activity {
 public:
  static constexpr size_t kMost = size_t{1} << 16;

  void Add(const std::vector<TimedEvent>& events);
  // Of the devices whose activity repeats, the surest first.
  std::vector<Period> Periods() const;

 private:
  std::map<std::pair<int, uint16_t>, std::deque<int64_t>> starts_;  // by process and device
};

}  // namespace recpack::probe

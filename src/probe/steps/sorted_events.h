// Events by who told them, and of what.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/util/intervals.h"

namespace recpack::probe {

using Lane = std::pair<int, uint32_t>;  // process, lane

// What one thread told.
struct LaneEvents {
  std::vector<Event> steps, batch_steps, waits, exchanges;
  std::vector<Interval> batches;  // of the waits those that end with one
  bool fetches_ahead = false;
  bool marked = false;  // its steps are ranges
};

// What a device of a process did, whichever lane told of it.
struct DeviceEvents {
  std::vector<Interval> work, copies_in, copies_between;
  std::vector<std::pair<uint32_t, Interval>> exchanges;  // by lane
};

struct SortedEvents {
  std::map<Lane, LaneEvents> lanes;
  std::map<std::pair<int, uint16_t>, DeviceEvents> devices;
  std::map<int, uint64_t> launches;               // of kernels, by process
  std::map<int, std::vector<Interval>> by_hosts;  // copies from a device to another, by process
};

inline Interval IntervalOf(const Event& event) { return {event.begin, event.end}; }

// An open event is told again when it has ended: takes out those that have.
void ForgetBegins(std::vector<TimedEvent>& events);

// `now`: where what is still open ends. Steps are those told, or else marked (marked_steps.h).
SortedEvents SortEvents(const std::vector<TimedEvent>& events, int64_t now);

}  // namespace recpack::probe

// Groups events by thread and by device.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/util/intervals.h"

namespace recpack::probe {

using Lane = std::pair<int, uint32_t>;  // process, lane

// Events of one thread.
struct LaneEvents {
  std::vector<Event> steps, batch_steps, waits, exchanges;
  std::vector<Event> evaluations;  // waits for their input
  std::vector<Interval> starts;    // of workers, each with the wait for their first batch
  std::vector<Interval> batches;   // waits that ended with a batch
  bool fetches_ahead = false;
  bool marked = false;  // steps are from named ranges
};

// Activity of one device of a process, from any lane.
struct DeviceEvents {
  std::vector<Interval> work, copies_in, copies_between;
  std::vector<std::pair<uint32_t, Interval>> exchanges;  // by lane
};

struct SortedEvents {
  std::map<Lane, LaneEvents> lanes;
  std::map<std::pair<int, uint16_t>, DeviceEvents> devices;
  std::map<int, uint64_t> launches;               // of kernels, by process
  std::map<int, std::vector<Interval>> by_hosts;  // copies between devices by the host, by process
};

inline Interval ToInterval(const Event& event) { return {event.begin, event.end}; }

// Removes open events that have ended since, as an ended event is reported again.
void RemoveEndedOpenEvents(std::vector<TimedEvent>& events);

// `now`: end of events that are still open. Uses reported steps, or else named ranges
// (marked_steps.h).
SortedEvents SortEvents(const std::vector<TimedEvent>& events, int64_t now);

}  // namespace recpack::probe

// A trace of another profiler, read whole.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/probe/events/profiler_trace.h"

namespace recpack::probe {

struct WholeTrace : ProfilerTrace {
  std::vector<TimedEvent> events;
};

inline std::vector<TimedEvent> AllOf(TraceEvents& events) {
  std::vector<TimedEvent> all;
  events.ForBatches(
      [&](std::vector<TimedEvent>& batch) { all.insert(all.end(), batch.begin(), batch.end()); });
  return all;
}

// `read`: as ReadProfilerTrace().
inline WholeTrace ReadWhole(ProfilerTrace (&read)(const std::string& path, TraceEvents& events),
                            const std::string& path) {
  TraceEvents events;
  WholeTrace trace{read(path, events), {}};
  trace.events = AllOf(events);
  return trace;
}

}  // namespace recpack::probe

// trace.json: a run for Perfetto, in the trace event format of Chrome.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/probe/events/event_reader.h"
#include "src/probe/report/report.h"

namespace recpack::probe {

// Events by process and thread, device and stream; the report's timeline as counters. Times are
// microseconds since report.begin. Where events were left out, they are told in "otherData".
std::string ChromeTrace(const Report& report, const std::vector<TimedEvent>& events,
                        uint64_t events_left_out);

}  // namespace recpack::probe

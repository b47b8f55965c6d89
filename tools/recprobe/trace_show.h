// What a trace adds up to, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "recpack/probe/event_reader.h"
#include "recpack/probe/verdict.h"

namespace recpack::tool {

// One JSON object: the verdict, the devices, the tables.
std::string TraceJson(const Verdict& verdict, const std::vector<TimedEvent>& events);

// A paragraph for each device, then the tables, each up to so many rows.
std::string TraceText(const std::vector<TimedEvent>& events, size_t rows);

}  // namespace recpack::tool

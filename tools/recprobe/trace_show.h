// What a trace adds up to, for people.
#pragma once

#include <string>

#include "src/probe/steps/trace_summary.h"

namespace recpack::tool {

// A paragraph for each device, then the tables, each up to so many rows.
std::string TraceText(const probe::TraceSummary& summary, size_t rows);

}  // namespace recpack::tool

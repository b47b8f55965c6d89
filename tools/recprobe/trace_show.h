// Formats the sums of a trace for people.
#pragma once

#include <string>

#include "src/probe/steps/trace_summary.h"

namespace recpack::tool {

// Returns a paragraph per device, then the tables with at most `rows` rows each.
std::string TraceText(const probe::TraceSummary& summary, size_t rows);

}  // namespace recpack::tool

// Implements --report: writes the results of a watch to a folder.
#pragma once

#include <string>
#include <vector>

#include "src/probe/events/kept_events.h"
#include "src/probe/report/report.h"
#include "tools/recprobe/command.h"

namespace recpack::tool {

struct ReportFlag {
  std::string folder;  // empty: no report

  bool wanted() const noexcept { return !folder.empty(); }
  // Maximum number of events in the report's trace; 0 without a report.
  size_t most_events() const noexcept { return wanted() ? 400'000 : 0; }
};

void AddReportFlag(CLI::App& command, ReportFlag& flag);

// Writes report.json, report.html and trace.json, and prints the path to stderr. Does nothing if no
// report is wanted. Throws Error (kIo).
void WriteReport(const ReportFlag& flag, const probe::Report& report,
                 const std::vector<probe::TimedEvent>& events, uint64_t events_left_out);

// The same, but prints errors instead of throwing: the exit code is that of the watched command.
void TryToWriteReport(const ReportFlag& flag, const probe::Report& report,
                      const probe::KeptEvents& events);

}  // namespace recpack::tool

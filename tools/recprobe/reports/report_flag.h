// Implements --report and --log: writes the results of a watch to a folder, and to trackers.
#pragma once

#include <string>
#include <vector>

#include "src/probe/events/kept_events.h"
#include "src/probe/report/report.h"
#include "src/probe/trackers/trackers.h"
#include "tools/recprobe/command.h"

namespace recpack::tool {

struct ReportFlag {
  std::string folder;              // or URL; empty: no report
  std::vector<std::string> log;    // trackers, as ParseTracker() takes them
  std::string python = "python3";  // that has their packages

  bool wanted() const noexcept { return !folder.empty(); }
  // Maximum number of events in the report's trace; 0 without a report.
  size_t most_events() const noexcept { return wanted() ? 400'000 : 0; }
};

// Adds an option that names trackers, and can be repeated. `what`: begins its description.
CLI::Option* AddTrackers(CLI::App& command, const char* name, std::vector<std::string>& trackers,
                         const std::string& what);

// Adds --report and --log.
void AddReportFlag(CLI::App& command, ReportFlag& flag);

// Throws Error, before the watch begins, if the report could not be written or logged. `command`:
// the program to be watched, in whose Python the trackers' packages are; empty: python3.
void CheckReportFlag(ReportFlag& flag, const std::vector<std::string>& command);

// Writes report.json, report.html and trace.json, prints the path to stderr, and logs the report.
// Does nothing if no report is wanted. `interim`: folder of the report that this one replaces;
// empty: there is none. If a store cannot be written to, prints why, and writes to the new folder
// recprobe-report instead. Throws Error (kIo).
void WriteReport(const ReportFlag& flag, const probe::Report& report,
                 const std::vector<probe::TimedEvent>& events, uint64_t events_left_out,
                 const std::string& interim = "");

// The same, but prints errors instead of throwing: the exit code is that of the watched command.
void TryToWriteReport(const ReportFlag& flag, const probe::Report& report,
                      const probe::KeptEvents& events, const std::string& interim);

}  // namespace recpack::tool

// --report: what is found is kept as well.
#pragma once

#include <string>
#include <vector>

#include "src/probe/events/kept_events.h"
#include "src/probe/report/report.h"
#include "tools/recprobe/command.h"

namespace recpack::tool {

struct ReportFlag {
  std::string folder;  // empty: nothing is kept

  bool wanted() const noexcept { return !folder.empty(); }
  // Events that the report's trace may have; 0 where none is wanted.
  size_t most_events() const noexcept { return wanted() ? 400'000 : 0; }
};

// --report.
void AddReportFlag(CLI::App& command, ReportFlag& flag);

// Writes report.json, report.html and trace.json, and says so on stderr; nothing where no report
// is wanted. Throws Error (kIo).
void WriteReport(const ReportFlag& flag, const probe::Report& report,
                 const std::vector<probe::TimedEvent>& events, uint64_t events_left_out);

// The same behind a command whose exit code counts: what goes wrong is told and no more.
void TryToWriteReport(const ReportFlag& flag, const probe::Report& report,
                      const probe::KeptEvents& events);

}  // namespace recpack::tool

// Writes reports of a training while it runs (--report-every).
#pragma once

#include <chrono>
#include <exception>
#include <future>
#include <string>

#include "src/probe/live/watch.h"
#include "src/probe/report/report.h"
#include "tools/recprobe/reports/report_flag.h"

namespace recpack::tool {

// Not thread-safe.
class InterimReports {
 public:
  // `every`: seconds from one report to the next; 0: none is written. `parts`: of each report;
  // timeline, ceilings and seconds are filled in.
  InterimReports(const ReportFlag& flag, double every, probe::ReportParts parts);

  // Call it after each sample. Replaces the report if the next one is due: after `every` seconds,
  // or later if that would use more than 0.2 % of a core. Prints errors to stderr.
  void Update(const probe::Watch& watch);

  // Waits for a report that is being written. Returns the folder in which the reports lie; empty:
  // none was written.
  std::string Finish();

 private:
  using Clock = std::chrono::steady_clock;

  void Write(const probe::Watch& watch);
  void Collect();
  void Tell(const std::exception& error);

  const ReportFlag& flag_;
  const Clock::duration every_;
  const probe::ReportParts parts_;
  std::future<std::string> written_;  // folder; the watch does not wait for a store
  std::string folder_;
  std::string error_;  // the latest, which is not repeated
  Clock::time_point next_;
};

}  // namespace recpack::tool

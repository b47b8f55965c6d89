#include "tools/recprobe/report_flag.h"

#include <cstdio>
#include <exception>

#include "recpack/base/error.h"
#include "src/probe/report/report.h"

namespace recpack::tool {

void AddReportFlag(CLI::App& command, ReportFlag& flag) {
  command.add_option("--report", flag.folder,
                     "New folder for report.html, report.json and trace.json (for Perfetto); see "
                     "docs/format/report.md.");
}

void WriteReport(const ReportFlag& flag, const probe::Report& report,
                 const std::vector<probe::TimedEvent>& events, uint64_t events_left_out) {
  if (!flag.wanted()) return;
  const std::string folder = probe::WriteReportFiles(
      PosixFiles(), flag.folder,
      {{"report.json", probe::ReportJson(report)},
       {"report.html", probe::ReportPage(report)},
       {"trace.json", probe::ChromeTrace(report, events, events_left_out)}});
  std::fprintf(stderr, "\nreport: %s/report.html\n", folder.c_str());
}

void TryToWriteReport(const ReportFlag& flag, const probe::Report& report,
                      const probe::KeptEvents& events) {
  try {
    WriteReport(flag, report, events.All(), events.left_out());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "recprobe: %s\n", error.what());
  }
}

}  // namespace recpack::tool

#include "tools/recprobe/report_flag.h"

#include <cstdio>
#include <exception>

#include "recpack/base/error.h"
#include "src/probe/report/report.h"

namespace recpack::tool {

CLI::Option* AddTrackers(CLI::App& command, const char* name, std::vector<std::string>& trackers,
                         const std::string& what) {
  return command
      .add_option(name, trackers,
                  what +
                      "wandb[:PROJECT], mlflow[:EXPERIMENT], tensorboard[:FOLDER] or "
                      "otlp[:URL]; can be repeated.")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void AddReportFlag(CLI::App& command, ReportFlag& flag) {
  command.add_option("--report", flag.folder,
                     "New folder for report.html, report.json and trace.json (for Perfetto); see "
                     "docs/format/report.md.");
  AddTrackers(command, "--log", flag.log,
              "Log the report, by the package in the program's Python: ")
      ->needs("--report");
}

void CheckReportFlag(ReportFlag& flag, const std::vector<std::string>& command) {
  if (!flag.wanted()) return;
  probe::CheckReportFolder(flag.folder);
  if (flag.log.empty()) return;
  flag.python = probe::FindPython(command);
  for (const std::string& text : flag.log) {
    probe::CheckTracker(probe::ParseTracker(text), flag.python);
  }
}

void WriteReport(const ReportFlag& flag, const probe::Report& report,
                 const std::vector<probe::TimedEvent>& events, uint64_t events_left_out,
                 const std::string& interim) {
  if (!flag.wanted()) return;
  const std::string folder =
      probe::WriteReportFiles(PosixFiles(), flag.folder,
                              {{"report.json", probe::ReportJson(report)},
                               {"report.html", probe::ReportPage(report)},
                               {"trace.json", probe::ChromeTrace(report, events, events_left_out)}},
                              interim);
  std::fprintf(stderr, "\nreport: %s/report.html\n", folder.c_str());
  for (const std::string& text : flag.log) {
    probe::LogReport(probe::ParseTracker(text), flag.python, folder);
  }
}

void TryToWriteReport(const ReportFlag& flag, const probe::Report& report,
                      const probe::KeptEvents& events, const std::string& interim) {
  try {
    WriteReport(flag, report, events.All(), events.left_out(), interim);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "recprobe: %s\n", error.what());
  }
}

}  // namespace recpack::tool

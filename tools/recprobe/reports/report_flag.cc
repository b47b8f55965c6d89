#include "tools/recprobe/reports/report_flag.h"

#include <cstdio>
#include <exception>
#include <optional>

#include "recpack/base/error.h"
#include "recpack/base/temporaries.h"
#include "src/probe/report/report.h"
#include "src/remote/url/url.h"
#include "tools/recprobe/reports/report_store.h"

namespace recpack::tool {
namespace {

// What was watched for hours is kept on the disk if the store cannot be reached.
std::string PlaceOrKeep(const std::string& folder, const std::vector<probe::ReportFile>& contents,
                        const std::string& interim) {
  try {
    return PlaceReport(folder, contents, interim);
  } catch (const Error& error) {
    if (!remote::IsUrl(folder)) throw;
    std::fprintf(stderr, "recprobe: %s\n", error.what());
    return PlaceReport("recprobe-report", contents);
  }
}

// Trackers' packages read files.
void Log(const ReportFlag& flag, const std::string& folder,
         const std::vector<probe::ReportFile>& contents) {
  if (flag.log.empty()) return;
  std::optional<ScratchFolder> scratch;
  const std::string local =
      remote::IsUrl(folder) ? PlaceReport(scratch.emplace() / "report", contents) : folder;
  for (const std::string& text : flag.log) {
    probe::LogReport(probe::ParseTracker(text), flag.python, local);
  }
}

}  // namespace

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
  command.add_option(
      "--report", flag.folder,
      "New folder, or s3:// or gs:// URL, for report.html, report.json and trace.json "
      "(for Perfetto); see docs/format/report.md.");
  AddTrackers(command, "--log", flag.log,
              "Log the report, by the package in the program's Python: ")
      ->needs("--report");
}

void CheckReportFlag(ReportFlag& flag, const std::vector<std::string>& command) {
  if (!flag.wanted()) return;
  CheckReportPlace(flag.folder);
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
  const std::vector<probe::ReportFile> contents = {
      {"report.json", probe::ReportJson(report)},
      {"report.html", probe::ReportPage(report)},
      {"trace.json", probe::ChromeTrace(report, events, events_left_out)}};
  const std::string folder = PlaceOrKeep(flag.folder, contents, interim);
  std::fprintf(stderr, "\nreport: %s/report.html\n", folder.c_str());
  Log(flag, folder, contents);
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

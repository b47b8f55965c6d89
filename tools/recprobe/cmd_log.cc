#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "src/probe/report/kept_report.h"
#include "src/probe/trackers/trackers.h"
#include "tools/recprobe/command.h"
#include "tools/recprobe/reports/report_flag.h"

namespace recpack::tool {
namespace {

struct LogFlags {
  std::string report;
  std::vector<std::string> trackers;
  std::string python = "python3";
};

void RunLog(const LogFlags& flags) {
  const probe::KeptReport report = probe::ReadReport(PosixFiles(), flags.report);
  const std::string folder = std::filesystem::path(report.path).parent_path().string();
  for (const std::string& text : flags.trackers) {
    probe::LogReport(probe::ParseTracker(text), flags.python, folder.empty() ? "." : folder);
  }
}

}  // namespace

void AddLog(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("log", "Log a report to experiment trackers.");
  command.footer(
      "Examples:\n"
      "  recprobe log report --to wandb:inputs\n"
      "  recprobe log report --to mlflow --to tensorboard:runs --python .venv/bin/python\n");
  const auto flags = std::make_shared<LogFlags>();
  command.add_option("report", flags->report, "The report's folder.")->required();
  AddTrackers(command, "--to", flags->trackers, "")->required();
  command.add_option("--python", flags->python, "The Python that has their packages.")
      ->capture_default_str();
  command.callback([flags, &exit_code] {
    RunLog(*flags);
    exit_code = kDone;
  });
}

}  // namespace recpack::tool

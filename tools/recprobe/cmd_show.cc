#include <cstdio>
#include <memory>
#include <string>

#include "src/probe/verdict/verdict.h"
#include "tools/recprobe/command.h"
#include "tools/recprobe/reports/report_store.h"

namespace recpack::tool {
namespace {

struct ShowFlags {
  std::string report;
  bool json = false;
};

void RunShow(const ShowFlags& flags) {
  const probe::KeptReport report = FetchReport(flags.report);
  const std::string text =
      flags.json ? probe::VerdictJson(report.verdict) + "\n" : probe::VerdictText(report.verdict);
  std::fputs(text.c_str(), stdout);
}

}  // namespace

void AddShow(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("show", "Print the verdict of a report.");
  command.footer(
      "Examples:\n"
      "  recprobe show report\n");
  const auto flags = std::make_shared<ShowFlags>();
  command
      .add_option("report", flags->report, "The report's folder, or its report.json; also a URL.")
      ->required();
  command.add_flag("--json", flags->json, "Print the verdict as one JSON object.");
  command.callback([flags, &exit_code] {
    RunShow(*flags);
    exit_code = kDone;
  });
}

}  // namespace recpack::tool

#include <cstdio>
#include <memory>
#include <optional>

#include "src/base/parse_units.h"
#include "src/probe/report/compare.h"
#include "tools/recprobe/command.h"
#include "tools/recprobe/reports/report_store.h"

namespace recpack::tool {
namespace {

struct CompareFlags {
  std::string a, b;
  std::optional<double> fail_above;
  bool json = false;
};

int RunCompare(const CompareFlags& flags) {
  const probe::Comparison comparison =
      probe::CompareReports(FetchReport(flags.a), FetchReport(flags.b));
  std::printf(
      "%s%s",
      (flags.json ? probe::CompareJson(comparison) : probe::CompareText(comparison)).c_str(),
      flags.json ? "\n" : "");
  return flags.fail_above && probe::IsSlower(comparison, *flags.fail_above) ? kFinding : kDone;
}

}  // namespace

void AddCompare(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand(
      "compare", "Compare two reports: what surely changed, and what is within the error.");
  command.footer(
      "Examples:\n"
      "  recprobe compare before after\n");
  const auto flags = std::make_shared<CompareFlags>();
  command.add_option("A", flags->a, "A report.json, or its folder; also a URL.")->required();
  command.add_option("B", flags->b, "The report to compare with A.")->required();
  command.add_option_function<std::string>(
      "--fail-above", [flags](const std::string& text) { flags->fail_above = ParseShare(text); },
      "Exit with 1 if B surely makes fewer steps per second than A, by more than this share (5% or "
      "0.05), judged by the upper end of the interval.");
  command.add_flag("--json", flags->json, "Print one JSON object.");
  command.callback([flags, &exit_code] { exit_code = RunCompare(*flags); });
}

}  // namespace recpack::tool

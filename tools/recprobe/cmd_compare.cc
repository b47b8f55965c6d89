#include <cstdio>
#include <memory>
#include <optional>

#include "src/probe/report/compare.h"
#include "tools/human.h"
#include "tools/recprobe/command.h"

namespace recpack::tool {
namespace {

struct Flags {
  std::string a, b;
  std::optional<double> fail_above;
  bool json = false;
};

int RunCompare(const Flags& flags) {
  const probe::Comparison comparison = probe::CompareReports(
      probe::ReadReport(PosixFiles(), flags.a), probe::ReadReport(PosixFiles(), flags.b));
  std::printf(
      "%s%s",
      (flags.json ? probe::CompareJson(comparison) : probe::CompareText(comparison)).c_str(),
      flags.json ? "\n" : "");
  return flags.fail_above && probe::IsSlower(comparison, *flags.fail_above) ? kFinding : kDone;
}

}  // namespace

void AddCompare(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand(
      "compare", "Hold two reports side by side: what changed surely, what is within error.");
  const auto flags = std::make_shared<Flags>();
  command.add_option("A", flags->a, "A report.json, or the folder that it lies in.")->required();
  command.add_option("B", flags->b, "The one that is held against it.")->required();
  command.add_option_function<std::string>(
      "--fail-above", [flags](const std::string& text) { flags->fail_above = ParseShare(text); },
      "Exit with 1 where B makes surely fewer steps a second than A, by more than this share (5% "
      "or "
      "0.05): the upper end of the interval is below it.");
  command.add_flag("--json", flags->json, "Print one JSON object.");
  command.callback([flags, &exit_code] { exit_code = RunCompare(*flags); });
}

}  // namespace recpack::tool

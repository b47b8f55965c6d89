#include <cstdio>
#include <memory>

#include "src/probe/report/merge.h"
#include "tools/recprobe/command.h"

namespace recpack::tool {
namespace {

struct MergeFlags {
  std::string folder;
  bool json = false;
};

int RunMerge(const MergeFlags& flags) {
  const probe::Merge merge = probe::MergeReports(probe::FindReports(PosixFiles(), flags.folder));
  std::printf("%s%s", (flags.json ? probe::MergeJson(merge) : probe::MergeText(merge)).c_str(),
              flags.json ? "\n" : "");
  return merge.left_out.empty() ? kDone : kFinding;
}

}  // namespace

void AddMerge(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("merge",
                                          "Join the reports of many ranks or jobs: hours lost to "
                                          "input, cause, cure. Exits with 1 if "
                                          "some had to be left out.");
  command.footer(
      "Examples:\n"
      "  recprobe merge reports\n"
      "  recprobe merge reports --json\n");
  const auto flags = std::make_shared<MergeFlags>();
  command
      .add_option("folder", flags->folder,
                  "Folder that contains the reports (report.json, written by run --report).")
      ->required();
  command.add_flag("--json", flags->json, "Print one JSON object.");
  command.callback([flags, &exit_code] { exit_code = RunMerge(*flags); });
}

}  // namespace recpack::tool

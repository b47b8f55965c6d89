#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

#include "recpack/base/error.h"
#include "src/probe/report/merge.h"
#include "tools/recprobe/command.h"
#include "tools/recprobe/reports/report_store.h"

namespace recpack::tool {
namespace {

struct MergeFlags {
  std::string folder;
  bool json = false;
  bool watch = false;
  double interval = 10;  // seconds
};

probe::Merge MergeNow(const MergeFlags& flags) {
  return probe::MergeReports(FetchReports(flags.folder));
}

void Show(const MergeFlags& flags, const probe::Merge& merge) {
  std::printf("%s%s", (flags.json ? probe::MergeJson(merge) : probe::MergeText(merge)).c_str(),
              flags.json ? "\n" : "");
  std::fflush(stdout);
}

// Returns nullopt if there is no report yet, or a store does not answer now.
std::optional<probe::Merge> MergeSoFar(const MergeFlags& flags) {
  try {
    return MergeNow(flags);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kNotFound) return {};
    if (error.kind() != ErrorKind::kIo) throw;
    std::fprintf(stderr, "recprobe: %s\n", error.what());
    return {};
  }
}

// Shows the reports again and again, until no program goes on.
probe::Merge WatchReports(const MergeFlags& flags) {
  constexpr const char* kClear = "\033[H\033[2J";
  CheckReportsFolder(flags.folder);
  const bool drawn = !flags.json && ::isatty(STDOUT_FILENO) != 0;
  for (bool first = true;; first = false) {
    std::optional<probe::Merge> merge = MergeSoFar(flags);
    if (merge) {
      if (drawn || !first) std::fputs(drawn ? kClear : flags.json ? "" : "\n", stdout);
      Show(flags, *merge);
      if (merge->running() == 0) return *std::move(merge);
    } else if (first) {
      std::fprintf(stderr, "recprobe: %s has no report yet; Ctrl-C ends\n", flags.folder.c_str());
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(flags.interval));
  }
}

int RunMerge(const MergeFlags& flags) {
  probe::Merge merge;
  if (flags.watch) {
    merge = WatchReports(flags);
  } else {
    merge = MergeNow(flags);
    Show(flags, merge);
  }
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
      "  recprobe merge reports --json\n"
      "  recprobe merge reports --watch\n"
      "  recprobe merge s3://bucket/reports\n");
  const auto flags = std::make_shared<MergeFlags>();
  command
      .add_option("folder", flags->folder,
                  "Folder, or s3:// or gs:// URL, that contains the reports (report.json, written "
                  "by run --report).")
      ->required();
  command.add_flag("--json", flags->json, "Print one JSON object; with --watch, a line each time.");
  CLI::Option* const watch =
      command.add_flag("--watch", flags->watch,
                       "Show the table again and again, until none of the programs goes on that "
                       "`run --report-every` reports of.");
  command.add_option("--interval", flags->interval, "Seconds from one table to the next.")
      ->capture_default_str()
      ->needs(watch)
      ->check(CLI::Range(0.1, 3600.0));
  command.callback([flags, &exit_code] { exit_code = RunMerge(*flags); });
}

}  // namespace recpack::tool
